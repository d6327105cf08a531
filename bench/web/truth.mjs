/** The k nearest of the rows to each query by brute force in double precision, nearest first, ties by row number. */
export function exactNeighbours(rows, queries, dimensions, metric, k) {
  const lengths = metric === 'cosine' ? squares(rows, dimensions) : null;
  const count = rows.length / dimensions;
  const truth = new Int32Array((queries.length / dimensions) * k);
  const distances = new Float64Array(count);
  for (let at = 0, out = 0; at < queries.length; at += dimensions, out += k) {
    const query = Float64Array.from(queries.subarray(at, at + dimensions));
    for (let row = 0, from = 0; row < count; ++row, from += dimensions) {
      let sum = 0;
      if (metric === 'l2') {
        for (let i = 0; i < dimensions; ++i) sum += (rows[from + i] - query[i]) ** 2;
      } else {
        for (let i = 0; i < dimensions; ++i) sum -= rows[from + i] * query[i];
        if (lengths) sum /= Math.sqrt(lengths[row]) || 1;
      }
      distances[row] = sum;
    }
    truth.set(nearest(distances, k), out);
  }
  return truth;
}

function squares(rows, dimensions) {
  const sums = new Float64Array(rows.length / dimensions);
  for (let i = 0; i < rows.length; ++i) sums[Math.trunc(i / dimensions)] += rows[i] * rows[i];
  return sums;
}

/** The places of the k smallest. */
function nearest(distances, k) {
  const best = [];
  for (let row = 0; row < distances.length; ++row) {
    if (best.length === k && distances[row] >= distances[best[k - 1]]) continue;
    let at = best.length;
    while (at > 0 && distances[best[at - 1]] > distances[row]) --at;
    best.splice(at, 0, row);
    best.length = Math.min(best.length, k);
  }
  return best;
}
