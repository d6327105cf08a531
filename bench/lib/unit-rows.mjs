/** Rows of length 1, for libraries whose users normalise for cosine; rows of other metrics as they are. */
export function prepared(rows, { dimensions, metric }) {
  if (metric !== 'cosine') return rows;
  const units = new Float32Array(rows.length);
  for (let at = 0; at < rows.length; at += dimensions) {
    let squares = 0;
    for (let i = at; i < at + dimensions; ++i) squares += rows[i] * rows[i];
    const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
    for (let i = at; i < at + dimensions; ++i) units[i] = rows[i] * scale;
  }
  return units;
}
