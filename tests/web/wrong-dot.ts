// An engine build as it would run where the relaxed dot product is wrong, as it is in Node 20.
import { readFileSync, writeFileSync } from 'node:fs';

const relaxedDot = Buffer.from([0xfd, 0x93, 0x02]); // i32x4.relaxed_dot_i8x16_i7x16_add_s
const relaxedMadd = Buffer.from([0xfd, 0x85, 0x02]); // f32x4.relaxed_madd: as many operands, another sum

/** Puts another instruction in the place of every relaxed dot product of a .wasm file. */
export function withWrongRelaxedDot(file: string): void {
  const code = readFileSync(file);
  let replaced = 0;
  for (let at = code.indexOf(relaxedDot); at !== -1; at = code.indexOf(relaxedDot, at)) {
    relaxedMadd.copy(code, at);
    ++replaced;
  }
  if (replaced === 0) throw new Error(`${file} has no relaxed dot product`);
  writeFileSync(file, code);
}
