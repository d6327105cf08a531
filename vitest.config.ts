// JavaScript tests run against the package as it is built (dist/), in Node.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const dist = (file: string): string => fileURLToPath(new URL(`dist/${file}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^nearfield$/, replacement: dist('node.js') },
      { find: /^nearfield\/sync$/, replacement: dist('sync-node.js') },
    ],
  },
  test: {
    include: ['tests/web/**/*.test.ts', 'tests/package/**/*.test.ts', 'tests/bench/**/*.test.mjs'],
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
