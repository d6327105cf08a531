// Both engine builds give the same answers; which one runs depends on what the machine can do right.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const newerNode = join(root, 'tests', 'tools', 'node_modules', 'node24', 'bin', 'node');

interface Report {
  variant: string;
  hits: unknown;
}

function runIn(node: string, ...flags: string[]): Report {
  const output = execFileSync(node, [...flags, join(import.meta.dirname, 'report-variant.mjs'), join(root, 'dist', 'sync-node.js')], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as Report;
}

test('an engine that computes relaxed SIMD wrongly, or not at all, gets plain SIMD', () => {
  if (process.versions.node.startsWith('20.')) {
    expect(runIn(process.execPath, '--experimental-wasm-relaxed-simd').variant).toBe('simd');
  }
  expect(['simd', 'relaxed']).toContain(runIn(process.execPath).variant);
});

test.skipIf(!existsSync(newerNode))('relaxed SIMD gives the same answers', () => {
  const relaxed = runIn(newerNode);
  expect(relaxed.variant).toBe('relaxed');
  expect(relaxed.hits).toEqual(runIn(process.execPath).hits);
});
