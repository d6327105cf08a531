// One writer per folder among all Node programs and threads of a machine. Node has no flock(), which the native
// program uses: here it is a file of our own that names the process which holds it.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pid } from 'node:process';
import { threadId } from 'node:worker_threads';
import { NearfieldError } from '../errors.js';

// The native program passes over names that begin with a dot.
const lockName = '.lock-node';
const writingMilliseconds = 5000; // a lock file without contents is being written, unless it is older

/** Whether a file is part of no store: hidden ones, our lock among them, and the one that the native program locks. */
export const isPassedOver = (name: string): boolean => name === 'lock' || name.startsWith('.');

interface Holder {
  pid: number;
  /** When the process began, where that is known: process numbers are used again. */
  began: string;
  threadId: number;
  token: string;
}

function beganAt(process: number): string {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function alive({ pid: process, began }: Holder): boolean {
  try {
    globalThis.process.kill(process, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = beganAt(process);
  return began === '' || now === '' || began === now;
}

function parse(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null;
    return typeof holder?.pid === 'number' && holder.pid > 0 ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function abandoned(path: string, text: string): boolean {
  const holder = parse(text);
  if (holder) return !alive(holder);
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > writingMilliseconds;
}

/** Removes a lock file with these contents; one that another program made meanwhile stays. */
function takeAway(path: string, text: string): void {
  const aside = `${path}-${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (textOf(aside) === text) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function removeIfEmpty(folder: string, first: string): void {
  try {
    for (let at = folder; at.length >= first.length && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at);
  } catch {
    // It stays.
  }
}

/** The folders that this thread has open for writing. */
const held = new Map<string, FolderLock>();

export class FolderLock {
  private constructor(
    private readonly folder: string,
    private readonly contents: string,
    private readonly made: string | undefined,
  ) {}

  /** Makes the folder if it is not there. Fails with `LOCKED`. */
  static take(folder: string): FolderLock {
    const made = mkdirSync(folder, { recursive: true });
    const path = join(realpathSync(folder), lockName);
    const holder: Holder = { pid, began: beganAt(pid), threadId, token: randomUUID() };
    const contents = JSON.stringify(holder);
    if (held.has(path)) throw locked(folder, pid);
    try {
      write(path, contents, folder);
    } catch (error) {
      if (made !== undefined) removeIfEmpty(folder, made);
      throw error;
    }
    const lock = new FolderLock(folder, contents, made);
    held.set(path, lock);
    return lock;
  }

  /** Fails with `IO` when the folder was removed or exchanged since. */
  static check(folder: string): void {
    for (const lock of held.values()) {
      if (lock.folder === folder && textOf(join(folder, lockName)) === lock.contents) return;
    }
    throw new NearfieldError('IO', `the folder ${folder} was removed or emptied while the store was open; nothing was written`);
  }

  release(): void {
    for (const [path, lock] of held) if (lock === this) held.delete(path);
    const path = join(this.folder, lockName);
    try {
      if (textOf(path) === this.contents) rmSync(path, { force: true });
    } catch {
      // A later writer takes it over.
    }
    if (this.made !== undefined) removeIfEmpty(this.folder, this.made);
  }
}

const locked = (folder: string, process: number | undefined): NearfieldError => {
  const who = process === undefined ? 'another program' : process === pid ? 'this program' : `the process ${process}`;
  return new NearfieldError(
    'LOCKED',
    `the store in ${folder} is open for writing in ${who}; close it there, or open with readOnly`,
  );
};

function write(path: string, contents: string, folder: string): void {
  for (let tries = 0; ; ++tries) {
    try {
      writeFileSync(path, contents, { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const text = textOf(path);
    if (text === undefined && tries < 10) continue;
    if (text === undefined || tries >= 10 || !abandoned(path, text)) throw locked(folder, parse(text ?? '')?.pid);
    takeAway(path, text);
  }
}

/** Removes the lock that a thread of this program left when it was ended. */
export function releaseOfThread(folder: string, thread: number): void {
  try {
    const path = join(folder, lockName);
    const text = textOf(path);
    const holder = text === undefined ? undefined : parse(text);
    if (holder?.pid === pid && holder.threadId === thread) rmSync(path, { force: true });
  } catch {
    // A later writer takes it over.
  }
}
