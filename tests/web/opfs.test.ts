// The files of OPFS under every interruption: a folder of the browser's that remembers what was done to it stands in,
// so that the tab can be killed after each step and in the middle of each write.
import { expect, test } from 'vitest';
import { OpfsPool, headerBytes } from '../../web/src/storage/opfs-pool.ts';
import { OpfsBackend } from '../../web/src/storage/opfs.ts';

type Step = (files: Map<string, Uint8Array>) => void;

/** A folder of OPFS; `steps` are its changes. */
class Folder {
  readonly files = new Map<string, Uint8Array>();
  readonly open = new Set<string>();
  readonly steps: Step[] = [];
  /** Steps that are done when half of a write is. */
  readonly torn = new Map<number, Step>();

  constructor(files: ReadonlyMap<string, Uint8Array> = new Map()) {
    for (const [name, bytes] of files) this.files.set(name, bytes.slice());
  }

  private change(step: Step, torn?: Step): void {
    if (torn) this.torn.set(this.steps.length, torn);
    this.steps.push(step);
    step(this.files);
  }

  private handle(name: string): unknown {
    const file = (): Uint8Array => this.files.get(name) as Uint8Array;
    const write = (bytes: Uint8Array, at: number): Step => (files) => {
      const old = files.get(name) as Uint8Array;
      const grown = new Uint8Array(Math.max(old.length, at + bytes.length));
      grown.set(old);
      grown.set(bytes, at);
      files.set(name, grown);
    };
    return {
      read: (to: Uint8Array, { at }: { at: number }) => {
        const part = file().subarray(at, at + to.length);
        to.set(part);
        return part.length;
      },
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        // No more than a browser may choose to take at once.
        const taken = bytes.slice(0, 1000);
        this.change(write(taken, at), write(taken.slice(0, taken.length >> 1), at));
        return taken.length;
      },
      getSize: () => file().length,
      truncate: (size: number) => this.change((files) => files.set(name, (files.get(name) as Uint8Array).slice(0, size))),
      flush: () => {},
      close: () => this.open.delete(name),
    };
  }

  /** What is on disk when the tab is killed after so many steps, or in the middle of the next one. */
  static after(steps: readonly Step[], count: number, next?: Step): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>();
    for (const step of steps.slice(0, count)) step(files);
    next?.(files);
    return files;
  }

  asDirectory(): FileSystemDirectoryHandle {
    const fileHandle = (name: string) => ({
      kind: 'file',
      name,
      createSyncAccessHandle: () => {
        if (this.open.has(name)) return Promise.reject(new DOMException('open', 'NoModificationAllowedError'));
        this.open.add(name);
        return Promise.resolve(this.handle(name));
      },
    });
    return {
      values: () => [...this.files.keys()].map(fileHandle),
      getFileHandle: (name: string) => {
        if (!this.files.has(name)) this.change((files) => files.set(name, new Uint8Array(0)));
        return Promise.resolve(fileHandle(name));
      },
      removeEntry: (name: string) => {
        this.change((files) => files.delete(name));
        return Promise.resolve();
      },
    } as unknown as FileSystemDirectoryHandle;
  }
}

const heap = new Uint8Array(10_000);

/** What the file of a name holds. */
const contentsOf = (name: string): Uint8Array =>
  Uint8Array.from({ length: 1500 + (name.charCodeAt(name.length - 1) % 7) * 300 }, (_, i) => (i * name.length + name.charCodeAt(i % name.length)) & 255);

async function openBackend(folder: Folder): Promise<OpfsBackend> {
  return OpfsBackend.open(() => heap, await OpfsPool.open(folder.asDirectory()));
}

function write(backend: OpfsBackend, name: string): void {
  const contents = contentsOf(name);
  const file = backend.create(name);
  expect(file, backend.detail).toBeGreaterThan(0);
  for (let at = 0; at < contents.length; at += 700) {
    const part = contents.subarray(at, at + 700);
    heap.set(part, 64);
    expect(backend.append(file, 64, part.length)).toBe(part.length);
  }
  expect(backend.finish(file)).toBe(0);
}

function read(backend: OpfsBackend, name: string): Uint8Array {
  const length = backend.size(name);
  expect(backend.read(name, 0, 64, length)).toBe(length);
  return heap.slice(64, 64 + length);
}

/** As a store does it: data, then the manifest, then the old files go. Some data stays for several flushes. */
async function flush(backend: OpfsBackend, generation: number): Promise<void> {
  write(backend, `data-${generation}.nf`);
  backend.sync();
  write(backend, `manifest-${generation}.nf`);
  backend.sync();
  backend.remove(`manifest-${generation - 1}.nf`);
  backend.remove(`data-${generation - (generation % 2 === 0 ? 1 : 4)}.nf`);
  await backend.commit();
}

test('a tab that is killed at any moment leaves every finished file whole, and room for new ones', async () => {
  const folder = new Folder();
  const backend = await openBackend(folder);
  const acknowledged = [0]; // by generation: after how many steps
  for (let generation = 1; generation <= 9; ++generation) {
    await flush(backend, generation);
    acknowledged.push(folder.steps.length);
  }
  let states = 0;
  for (let count = 0; count <= folder.steps.length; ++count) {
    const torn = folder.torn.get(count);
    for (const next of torn ? [undefined, torn] : [undefined]) {
      const left = new Folder(Folder.after(folder.steps, count, next));
      const again = await openBackend(left);
      const names = again.listFiles();
      for (const name of names) expect(read(again, name)).toEqual(contentsOf(name));
      const generations = names.filter((name) => name.startsWith('manifest')).map((name) => Number(/\d+/.exec(name)?.[0]));
      const promised = acknowledged.findLastIndex((steps) => steps <= count);
      expect(Math.max(0, ...generations)).toBeGreaterThanOrEqual(promised);
      for (const generation of generations) expect(names).toContain(`data-${generation}.nf`);
      await flush(again, 20);
      expect(again.listFiles()).toEqual(expect.arrayContaining(['data-20.nf', 'manifest-20.nf']));
      await again.close();
      expect(left.open.size).toBe(0);
      ++states;
    }
  }
  expect(states).toBeGreaterThan(200);
});

test('of two files with one name the later counts, and one whose beginning is damaged stays as it is', async () => {
  const folder = new Folder();
  const backend = await openBackend(folder);
  write(backend, 'data-1.nf');
  await backend.close();
  const [entry = '', older = new Uint8Array()] = [...folder.files].find(([, { length }]) => length > headerBytes) ?? [];
  const second = new Folder(folder.files);
  const changed = await openBackend(second);
  write(changed, 'data-1.nf'); // a later stamp
  await changed.close();
  const newer = [...second.files].find(([, { length }]) => length > headerBytes) ?? ['', new Uint8Array()];
  const both = new Folder([['8', older], ['9', newer[1]], ['10', older]] as never);
  const opened = await openBackend(both);
  expect(opened.listFiles()).toEqual(['data-1.nf']);
  await opened.close();
  expect(both.files.get('9')).toEqual(newer[1]);
  expect(both.files.get('8')?.length).toBe(0);

  const damaged = older.slice();
  damaged[20] = (damaged[20] ?? 0) ^ 1;
  const hurt = new Folder(new Map([[entry, damaged]]));
  const rest = await openBackend(hurt);
  expect(rest.listFiles()).toEqual([]);
  await rest.commit();
  await rest.close();
  expect(hurt.files.get(entry)).toEqual(damaged);
});
