// Which engine builds this machine can run.

// (func (result v128) i32.const 0, i8x16.splat, i8x16.popcnt)
const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
];
// (func (result v128) two splats, i8x16.relaxed_swizzle)
const relaxedProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15,
  253, 128, 2, 11,
];

export type Instructions = 'relaxed' | 'simd';
export type Variant = Instructions | `${Instructions}-threads`;

export const variants: readonly Variant[] = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];

export const fileOf = (variant: Variant): string => `nearfield-${variant}.wasm`;

/** The instruction sets that are known here, fastest first. Whether they compute right, selfCheck() says. */
export function knownInstructions(): Instructions[] {
  const known = (probe: number[]): boolean => WebAssembly.validate(new Uint8Array(probe));
  if (!known(simdProbe)) return [];
  return known(relaxedProbe) ? ['relaxed', 'simd'] : ['simd'];
}
