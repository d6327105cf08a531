// Loads the fastest variant that this machine runs correctly.
import relaxedFactory from 'nearfield-wasm/relaxed';
import simdFactory from 'nearfield-wasm/simd';
import type { EngineModule, ModuleFactory } from '../engine/module.js';
import { NearfieldError } from '../errors.js';
import { candidates, type Variant } from './probe.js';

const factories: Record<Variant, ModuleFactory> = { simd: simdFactory, relaxed: relaxedFactory };

export interface LoadedModule {
  module: EngineModule;
  variant: Variant;
}

/** Gets a variant's compiled code; undefined when it is not to be had, and another variant should be used. */
export type CodeSource = (variant: Variant) => Promise<WebAssembly.Module | undefined>;

async function instantiate(variant: Variant, code: WebAssembly.Module): Promise<EngineModule> {
  return new Promise((resolve, reject) => {
    factories[variant]({
      instantiateWasm: (imports, done) => {
        WebAssembly.instantiate(code, imports).then(done, reject);
        return {};
      },
      print: () => {},
      printErr: (text) => console.warn(`nearfield: ${text}`),
    }).then(resolve, reject);
  });
}

/**
 * Fails with `UNSUPPORTED` where there is no WebAssembly SIMD, and with `IO` when the code cannot be had.
 * A variant may validate and still compute wrongly, so each one checks itself before it is used.
 */
export async function loadModule(source: CodeSource): Promise<LoadedModule> {
  for (const variant of candidates()) {
    const code = await source(variant);
    if (!code) continue;
    const module = await instantiate(variant, code);
    if (variant === 'simd' || module.selfCheck()) return { module, variant };
  }
  throw new NearfieldError(
    'UNSUPPORTED',
    'this engine needs WebAssembly with SIMD: Chrome 91, Firefox 89, Safari 16.4, Node 20 or newer',
  );
}
