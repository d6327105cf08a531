// Emscripten's glue of each variant, of which a page loads one.
import type { ModuleFactory } from '../engine/module.js';
import type { Variant } from './probe.js';

const glues: Record<Variant, () => Promise<{ default: ModuleFactory }>> = {
  simd: () => import('nearfield-wasm/simd'),
  relaxed: () => import('nearfield-wasm/relaxed'),
  'simd-threads': () => import('nearfield-wasm/simd-threads'),
  'relaxed-threads': () => import('nearfield-wasm/relaxed-threads'),
};

export const glueOf = async (variant: Variant): Promise<ModuleFactory> => (await glues[variant]()).default;
