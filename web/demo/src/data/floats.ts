// Files of floats are little-endian on every server.

const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** The floats of a file; takes the buffer over. */
export function toFloats(buffer: ArrayBuffer): Float32Array {
  if (!littleEndian) {
    const view = new DataView(buffer);
    for (let at = 0; at < buffer.byteLength; at += 4) view.setUint32(at, view.getUint32(at, true));
  }
  return new Float32Array(buffer);
}
