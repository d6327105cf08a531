import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { serveData } from './vite-data.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  base: './', // the built page works in any folder of a site
  // The package as it is published: `npm run build web` makes dist/ first.
  plugins: [serveData(here('../../bench/datasets/cache/demo'))],
  resolve: { alias: { nearfield: here('../../dist/index.js') } },
  worker: { format: 'es' },
  // Cross-origin isolation gives finer clocks, and threads where an engine build has them.
  server: {
    fs: { allow: [here('../..')] },
    headers: {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    },
  },
  build: {
    outDir: here('../../build/demo'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
  },
});
