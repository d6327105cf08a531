/** A small generator of reproducible numbers (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomVector(next: () => number, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => next() * 2 - 1);
}

export function randomVectors(next: () => number, rows: number, dimensions: number): Float32Array {
  return randomVector(next, rows * dimensions);
}
