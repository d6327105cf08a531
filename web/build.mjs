// node web/build.mjs: bundles the package into dist/ and, where its sources are, the demo page into build/demo.
// Takes the wasm files from build/wasm and build/wasm-threads; does nothing for what has not changed.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inputDigest } from '../scripts/lib/inputs.mjs';
import { build as buildFolder, root } from '../scripts/lib/paths.mjs';
import { StepError, main, run } from '../scripts/lib/run.mjs';
import { digest, once } from '../scripts/lib/stamp.mjs';

const source = join(root, 'web', 'src');
const demo = join(root, 'web', 'demo');
const dist = join(root, 'dist');
const variants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
/** 'relaxed-threads' is built by the preset wasm-threads. */
const built = (variant, suffix) => {
  const [set, ...threads] = variant.split('-');
  return join(buildFolder, ['wasm', ...threads].join('-'), 'wasm', set, `nearfield.${suffix}`);
};

/** Resolves `nearfield-wasm/<variant>` to Emscripten's glue; one file where several variants' are equal. */
function glue() {
  const contents = variants.map((variant) => readFileSync(built(variant, 'mjs'), 'utf8'));
  const file = (variant) => built(variants[contents.indexOf(contents[variants.indexOf(variant)])], 'mjs');
  return {
    name: 'glue',
    setup({ onResolve }) {
      onResolve({ filter: /^nearfield-wasm\// }, ({ path }) => ({ path: file(path.split('/')[1]) }));
    },
  };
}

const common = {
  outdir: dist,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

const entries = (...names) => names.map((name) => join(source, `${name}.ts`));

async function makeDist() {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const plugins = [glue()];
  // Glue and session are shared between the entries, and loaded by a page only when it has no worker. The shared
  // parts lie beside the entries, since addresses relative to import.meta.url may end up in them.
  const page = entries('index', 'sync', 'worker');
  await build({ ...common, plugins, splitting: true, chunkNames: 'page-[hash]', entryPoints: page });
  const node = entries('node', 'sync-node', 'node-worker');
  await build({ ...common, plugins, splitting: true, chunkNames: 'node-[hash]', platform: 'node', entryPoints: node });
  for (const variant of variants) copyFileSync(built(variant, 'wasm'), join(dist, `nearfield-${variant}.wasm`));
  await run(process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', join(root, 'web'), '--noEmit', 'false',
    '--declaration', '--emitDeclarationOnly', '--outDir', join(dist, 'types'),
  ]);
}

async function makeDemo() {
  const { build: buildPage } = await import('vite');
  await buildPage({ configFile: join(demo, 'vite.config.ts'), logLevel: 'warn' });
}

await main(async () => {
  const files = variants.flatMap((variant) => [built(variant, 'mjs'), built(variant, 'wasm')]);
  const absent = files.find((file) => !existsSync(file));
  if (absent) throw new StepError(`${absent} is missing; run: npm run build web`);
  const tools = ['package-lock.json', 'tsconfig.json', 'web/tsconfig.json', 'web/build.mjs'].map((name) => join(root, name));
  const inputs = inputDigest([source, ...tools, ...files]);
  await once('dist', digest(inputs), [join(dist, 'types', 'index.d.ts')], makeDist);
  if (!existsSync(join(demo, 'vite.config.ts'))) return;
  await once('demo', digest(inputs, inputDigest([demo])), [join(buildFolder, 'demo', 'index.html')], makeDemo);
});
