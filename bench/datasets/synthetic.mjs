// Synthetic sets. Each generator has fill(row, out), which writes one row and
// depends on nothing but the row's number. Sums run in a fixed order in double
// precision (+, *, / and sqrt are exactly specified), so every machine makes
// the same bytes.

import { gaussian, rowKey, uniform } from './random.mjs';

// Streams keep the random numbers of different purposes apart.
const DIRECTIONS = 1;
const CENTRES = 2;
const ROWS = 3;

const CENTRE_COUNT = 64;

/** Queries are rows from here on: drawn as the base, never a part of it. */
export const FIRST_QUERY_ROW = 0x40000000;

/**
 * Looks like embeddings: 64 centres spread along 32 random orthogonal
 * directions (rank 32); a row is a centre plus noise of 0.35 in those
 * directions plus 0.02 in all dimensions.
 */
export function clustered(dimensions, seed) {
  const RANK = 32;
  const directions = orthogonal(RANK, dimensions, seed);
  const centres = gaussianMatrix(CENTRE_COUNT, RANK, seed, CENTRES);
  const sum = new Float64Array(dimensions);
  return (row, out) => {
    const key = rowKey(seed, ROWS, row);
    const centre = Math.floor(uniform(key, 0) * CENTRE_COUNT) * RANK;
    for (let d = 0; d < dimensions; d++) sum[d] = 0.02 * gaussian(key, 1 + RANK + d);
    for (let r = 0; r < RANK; r++) {
      const along = centres[centre + r] + 0.35 * gaussian(key, 1 + r);
      const direction = r * dimensions;
      for (let d = 0; d < dimensions; d++) sum[d] += along * directions[direction + d];
    }
    out.set(sum);
  };
}

/** Worst case: 64 well-separated clusters, where a graph with one entry point loses whole queries. */
export function separated(dimensions, seed) {
  const centres = gaussianMatrix(CENTRE_COUNT, dimensions, seed, CENTRES);
  return (row, out) => {
    const key = rowKey(seed, ROWS, row);
    const centre = Math.floor(uniform(key, 0) * CENTRE_COUNT) * dimensions;
    for (let d = 0; d < dimensions; d++) out[d] = centres[centre + d] + 0.05 * gaussian(key, 1 + d);
  };
}

/** Worst case: uniform in [0, 1), no structure at all. */
export function uniformCube(dimensions, seed) {
  return (row, out) => {
    const key = rowKey(seed, ROWS, row);
    for (let d = 0; d < dimensions; d++) out[d] = uniform(key, d);
  };
}

function gaussianMatrix(rows, columns, seed, stream) {
  const matrix = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const key = rowKey(seed, stream, row);
    for (let c = 0; c < columns; c++) matrix[row * columns + c] = gaussian(key, c);
  }
  return matrix;
}

/** Orthonormal rows: random ones, made orthogonal one after the other (modified Gram-Schmidt). */
function orthogonal(rows, columns, seed) {
  const matrix = gaussianMatrix(rows, columns, seed, DIRECTIONS);
  for (let row = 0; row < rows; row++) {
    const current = matrix.subarray(row * columns, (row + 1) * columns);
    for (let other = 0; other < row; other++) {
      const previous = matrix.subarray(other * columns, (other + 1) * columns);
      let dot = 0;
      for (let c = 0; c < columns; c++) dot += current[c] * previous[c];
      for (let c = 0; c < columns; c++) current[c] -= dot * previous[c];
    }
    let square = 0;
    for (let c = 0; c < columns; c++) square += current[c] * current[c];
    const length = Math.sqrt(square);
    for (let c = 0; c < columns; c++) current[c] /= length;
  }
  return matrix;
}
