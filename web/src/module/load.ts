// Loads the fastest variant that this machine runs correctly.
import type { EngineModule, GlueModule, ModuleFactory, ThreadedModule } from '../engine/module.js';
import { NearfieldError } from '../errors.js';
import { glueOf } from './glue.js';
import { sharedMemory, wholeOf } from './memory.js';
import { knownInstructions, type Variant } from './probe.js';
import { WorkerThreads, oneThread, type Threads } from './threads.js';

export interface LoadedModule {
  module: EngineModule;
  variant: Variant;
  threads: Threads;
}

/** Gets a variant's compiled code; undefined when it is not to be had, and another variant should be used. */
export type CodeSource = (variant: Variant) => Promise<WebAssembly.Module | undefined>;

/** How threads are made, where they can be. */
export interface ThreadPlan {
  /** All of them, the calling one included: 2 or more. */
  count: number;
  /** The program of a worker that runs one; it calls runThread(). */
  program: string;
}

function instantiate<Module extends GlueModule>(
  factory: ModuleFactory,
  code: WebAssembly.Module,
  more: { wasmMemory?: WebAssembly.Memory; mainScriptUrlOrBlob?: string } = {},
): Promise<Module> {
  return new Promise((resolve, reject) => {
    factory({
      instantiateWasm: (imports, done) => {
        // The glue hands the code on to its threads.
        WebAssembly.instantiate(code, imports).then((instance) => done(instance, code), reject);
        return {};
      },
      print: () => {},
      printErr: (text) => console.warn(`nearfield: ${text}`),
      ...more,
    }).then((module) => resolve(module as Module), reject);
  });
}

/** With an engine that is one thread. */
async function loadSingle(variant: Variant, code: WebAssembly.Module): Promise<LoadedModule> {
  const glue = await instantiate<GlueModule>(await glueOf(variant), code);
  return { module: Object.assign(glue, { heap: () => glue.HEAPU8 }), variant, threads: oneThread };
}

async function loadThreaded(
  variant: Variant,
  code: WebAssembly.Module,
  wasmMemory: WebAssembly.Memory,
  { count, program }: ThreadPlan,
): Promise<LoadedModule> {
  const mainScriptUrlOrBlob = `${program}#${variant}`;
  const glue = await instantiate<ThreadedModule>(await glueOf(variant), code, { wasmMemory, mainScriptUrlOrBlob });
  const module = Object.assign(glue, { heap: wholeOf(wasmMemory) });
  return { module, variant, threads: new WorkerThreads(module, count) };
}

/** Undefined where threads cannot be had; the engine without them is then as good. */
async function tryThreads(source: CodeSource, plan: ThreadPlan): Promise<LoadedModule | undefined> {
  for (const instructions of knownInstructions()) {
    const memory = sharedMemory(); // its own for each: memory that was used once is not initialised again
    if (!memory) return undefined;
    const variant: Variant = `${instructions}-threads`;
    try {
      const code = await source(variant);
      const loaded = code && (await loadThreaded(variant, code, memory, plan));
      if (loaded?.module.selfCheck()) return loaded;
    } catch (error) {
      console.warn(`nearfield: ${variant} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return undefined;
}

/**
 * Fails with `UNSUPPORTED` where there is no WebAssembly SIMD, and with `IO` when the code cannot be had.
 * A variant may validate and still compute wrongly, so each one checks itself before it is used.
 */
export async function loadModule(source: CodeSource, plan?: ThreadPlan): Promise<LoadedModule> {
  const threaded = plan && (await tryThreads(source, plan));
  if (threaded) return threaded;
  for (const variant of knownInstructions()) {
    const code = await source(variant);
    if (!code) continue;
    const loaded = await loadSingle(variant, code);
    if (variant === 'simd' || loaded.module.selfCheck()) return loaded;
  }
  throw new NearfieldError(
    'UNSUPPORTED',
    'this engine needs WebAssembly with SIMD: Chrome 91, Firefox 89, Safari 16.4, Node 20 or newer',
  );
}
