// The packed tarball: what is in it, how large it is, and that programs build with it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleCopy, manifestOf, pack, root, type Packed } from './packed.ts';

// Bytes after brotli: engine and glue. Emscripten's threads are some of both.
const largestEngine = 240_000;
const largestWithThreads = 250_000;

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

/** Every file that `exports` names. */
function targets(exports: unknown): string[] {
  if (typeof exports === 'string') return [exports];
  return Object.values(exports as Record<string, unknown>).flatMap(targets);
}

describe('the tarball', () => {
  test('has every file that exports name, with types first and default last', () => {
    const exports = manifestOf(packed)['exports'] as Record<string, string | Record<string, string>>;
    for (const target of targets(exports)) expect(packed.files).toContain(target.slice('./'.length));
    for (const entry of Object.values(exports)) {
      if (typeof entry === 'string') continue;
      expect(Object.keys(entry)[0]).toBe('types');
      expect(Object.keys(entry).at(-1)).toBe('default');
    }
  });

  test('has nothing but the built files, the licence and the README', () => {
    const others = packed.files.filter((file) => !file.startsWith('dist/'));
    for (const file of others) expect(['package.json', 'README.md', 'LICENSE']).toContain(file);
  });

  test('what a page loads takes no Node modules, and no file names a place on this machine', () => {
    for (const file of packed.files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
      const text = readFileSync(join(packed.contents, file), 'utf8');
      expect(text).not.toContain(root);
      if (/^dist\/(index|sync|worker|page-.*)\.js$/.test(file)) expect(text).not.toMatch(/["']node:/);
    }
  });

  test('engine and glue are small', () => {
    // Everything a page may load; of the engines and of the glues, with threads and without, it loads one.
    const page = packed.files.filter((file) => /^dist\/(nearfield-.*\.wasm|(index|sync|worker|page-.*)\.js)$/.test(file));
    const sizes = new Map(page.map((file) => [file, brotliCompressSync(readFileSync(join(packed.contents, file))).length]));
    console.log([...sizes].map((entry) => entry.join(' ')).join('\n'));
    // A class of Embind's, which nothing else names.
    const isGlue = (file: string): boolean =>
      file.endsWith('.js') && readFileSync(join(packed.contents, file), 'utf8').includes('BindingError');
    const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
    const of = (wanted: (file: string) => boolean): number[] => [...sizes].filter(([file]) => wanted(file)).map(([, size]) => size);
    const rest = sum(of((file) => file.endsWith('.js') && !isGlue(file)));
    const [glue = 0, threadedGlue = 0, ...others] = of(isGlue).sort((a, b) => a - b);
    expect(others).toEqual([]);
    const engines = (threaded: boolean): number[] =>
      of((file) => file.endsWith('.wasm') && file.includes('-threads') === threaded);
    expect([engines(false).length, engines(true).length]).toEqual([2, 2]);
    const single = rest + glue + Math.max(...engines(false));
    const withThreads = rest + threadedGlue + Math.max(...engines(true));
    console.log(`a page loads at most ${single} bytes, with threads ${withThreads}`);
    expect(single).toBeLessThanOrEqual(largestEngine);
    expect(withThreads).toBeLessThanOrEqual(largestWithThreads);
  });
});

describe('the examples', () => {
  test('node: stores, then finds', () => { // c43
    const folder = exampleCopy(packed, 'node');
    const run = (): string => execFileSync(process.execPath, ['main.js', '#4060e0'], { cwd: folder, encoding: 'utf8' });
    expect(run()).toMatch(/^stored\nroyalblue/);
    expect(run()).toMatch(/^found 18\nroyalblue/);
  });

  test('vite: builds, with hashed engine and worker files', async () => {
    const folder = exampleCopy(packed, 'vite', ['vite']);
    const { build } = await import('vite');
    await build({ root: folder, logLevel: 'warn' });
    const assets = readdirSync(join(folder, 'dist', 'assets'));
    const engines = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'].map(
      (variant) => new RegExp(`^nearfield-${variant}-[\\w-]{8}\\.wasm$`),
    );
    for (const name of [...engines, /^worker-.+\.js$/]) {
      expect(assets.filter((file) => name.test(file))).toHaveLength(1);
    }
    const script = assets.find((file) => /^index-.+\.js$/.test(file)) ?? '';
    const text = readFileSync(join(folder, 'dist', 'assets', script), 'utf8');
    for (const file of assets.filter((name) => name !== script && !/\.js$/.test(name))) expect(text).toContain(file);
  });

  test('vite: its types are those of the package', () => {
    const folder = exampleCopy(packed, 'vite', ['vite']);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    expect(existsSync(tsc)).toBe(true);
    execFileSync(process.execPath, [tsc, '--project', folder], { stdio: 'pipe' });
  });
});
