// Where the engine's code lies: beside the package's programs. Bundlers look for exactly these expressions.
import type { WasmAddresses } from '../module/fetch.js';

export const packagedWasm = (): WasmAddresses => ({
  simd: new URL('./nearfield-simd.wasm', import.meta.url).href,
  relaxed: new URL('./nearfield-relaxed.wasm', import.meta.url).href,
  'simd-threads': new URL('./nearfield-simd-threads.wasm', import.meta.url).href,
  'relaxed-threads': new URL('./nearfield-relaxed-threads.wasm', import.meta.url).href,
});
