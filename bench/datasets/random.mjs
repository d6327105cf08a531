// Counter-based random numbers. A value is a function of (seed, stream, row,
// counter) and of nothing drawn before it, so any row can be made alone, in
// any order. Only 32-bit integer operations and exact sums are used: every
// machine and every language can reproduce the same bits.

/** A bijective mixer of 32 bits (two multiplications, three shifts). */
export function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return x ^ (x >>> 15);
}

/** The two key words of one row. `low` differs for every row of a stream. */
export function rowKey(seed, stream, row) {
  const salt = mix(mix(seed) + stream);
  return { low: mix(row ^ salt), high: mix(mix(row + 0x9e3779b9) ^ mix(salt + 0x85ebca6b)) };
}

/** The 32-bit word number `counter` of a row (signed, as JavaScript has it). */
export function word(key, counter) {
  return mix(mix((key.low + Math.imul(counter, 0x9e3779b9)) | 0) ^ key.high);
}

/** A uniform number in [0, 1) with 24 bits, exact in a 32-bit float. */
export function uniform(key, counter) {
  return (word(key, counter) >>> 8) / 16777216;
}

/**
 * An approximately Gaussian number of mean 0 and variance 1: the sum of twelve
 * uniform 16-bit numbers (Irwin-Hall). The usual Box-Muller transform needs
 * log, sin and cos, whose last digits differ between machines; this is an
 * integer divided by a power of two. It never exceeds 6.
 */
export function gaussian(key, index) {
  let sum = 0;
  const first = index * 6;
  for (let i = 0; i < 6; i++) {
    const bits = word(key, first + i);
    sum += (bits & 0xffff) + (bits >>> 16);
  }
  return (sum - 6 * 65535) / 65536;
}
