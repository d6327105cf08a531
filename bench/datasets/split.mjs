// The fixed permutation that holds out the queries of a real set.

import { rowKey, word } from './random.mjs';

const SPLIT_SEED = 20260101;

/** Row numbers 0..rows-1 in a fixed random order: sorted by a random word, ties by row. */
export function permutation(rows) {
  const order = new Uint32Array(rows);
  const keys = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    order[row] = row;
    keys[row] = word(rowKey(SPLIT_SEED, 0, row), 0);
  }
  return order.sort((a, b) => keys[a] - keys[b] || a - b);
}

/**
 * The first `queries` rows of the permutation are the queries, the rest is the
 * base, both in the permutation's order: real sets come sorted (by class, by
 * frequency), which would favour or hurt an index that inserts in order.
 */
export function split(rows, queries) {
  const order = permutation(rows);
  return { query: order.subarray(0, queries), base: order.subarray(queries) };
}
