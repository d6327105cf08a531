// Reads the data sets that bench/datasets/prepare.mjs made.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { StepError } from '../../scripts/lib/run.mjs';

export const cache = join(root, 'bench', 'datasets', 'cache');

function bytes(path) {
  const file = readFileSync(path);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
}

/** A set's description with its queries and their truth (`k` ids a query); the rows by base(). */
export function readSet(name) {
  const prefix = join(cache, name);
  let meta;
  try {
    meta = JSON.parse(readFileSync(`${prefix}.meta.json`, 'utf8'));
  } catch {
    throw new StepError(`the data set "${name}" is not prepared; run: node bench/datasets/prepare.mjs ${name}`);
  }
  const { rows, queries, dimensions, metric, k } = meta;
  return {
    name,
    rows,
    queries,
    dimensions,
    metric,
    k,
    query: new Float32Array(bytes(`${prefix}.query.f32`)),
    truth: new Int32Array(bytes(`${prefix}.gt.i32`)),
    base: () => new Float32Array(bytes(`${prefix}.base.f32`)),
  };
}

/** What a result says of its set, and the parameters that every library gets. */
export const described = ({ rows, dimensions, metric, queries, k }) => ({
  rows,
  dimensions,
  metric,
  queries,
  k,
  m: 16,
  ef_construction: 200,
});
