// Writing converted files: hashed while they are written, checked against
// checksums.json, and stamped so that later runs only look at sizes.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = path.dirname(fileURLToPath(import.meta.url));
export const cache = path.join(here, 'cache');
const checksumsFile = path.join(here, 'checksums.json');

/** A file that grows by typed arrays and strings and appears under its name when closed. */
class OutputFile {
  constructor(name) {
    this.name = name;
    this.path = path.join(cache, name);
    this.part = `${this.path}.${process.pid}.part`;
    this.bytes = 0;
    this.hash = createHash('sha256');
    fs.mkdirSync(path.dirname(this.path), { recursive: true });
    this.descriptor = fs.openSync(this.part, 'w');
  }

  append(data) {
    const buffer = typeof data === 'string' ? Buffer.from(data)
      : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    // Hash and write piecewise: neither call takes more than 2 GiB.
    for (let at = 0; at < buffer.length; at += 1 << 26) {
      const piece = buffer.subarray(at, at + (1 << 26));
      this.hash.update(piece);
      for (let done = 0; done < piece.length;) done += fs.writeSync(this.descriptor, piece, done);
    }
    this.bytes += buffer.length;
  }

  close() {
    fs.closeSync(this.descriptor);
    fs.renameSync(this.part, this.path);
    return { name: this.name, bytes: this.bytes, sha256: this.hash.digest('hex') };
  }
}

/** Writes the chunks one after the other; a failure leaves no half a file. */
export function writeFile(name, chunks) {
  const file = new OutputFile(name);
  try {
    for (const chunk of chunks) file.append(chunk);
    return file.close();
  } finally {
    fs.rmSync(file.part, { force: true });
  }
}

/** Name, size and hash of a file that another program wrote into the cache. */
export function describeFile(name) {
  const data = fs.readFileSync(path.join(cache, name));
  return { name, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') };
}

/** Reads a little-endian file of 32-bit floats from the cache. */
export function readFloats(name) {
  const file = path.join(cache, name);
  const bytes = new Uint8Array(fs.statSync(file).size);
  const descriptor = fs.openSync(file, 'r');
  for (let done = 0; done < bytes.length;) {
    const count = fs.readSync(descriptor, bytes, done, Math.min(bytes.length - done, 1 << 26), done);
    if (count === 0) throw new Error(`${name} ended early`);
    done += count;
  }
  fs.closeSync(descriptor);
  return new Float32Array(bytes.buffer);
}

const stampPath = (set) => path.join(cache, `${set}.stamp.json`);

/** True when every file of the stamp is there with its size. Reads no data. */
export function isPrepared(set, version) {
  try {
    const stamp = JSON.parse(fs.readFileSync(stampPath(set), 'utf8'));
    return stamp.version === version
      && stamp.files.every((file) => fs.statSync(path.join(cache, file.name)).size === file.bytes);
  } catch {
    return false;
  }
}

export function writeStamp(set, version, files) {
  writeFile(`${set}.stamp.json`, [JSON.stringify({ version, files }, null, 2) + '\n']);
}

/** Fails when a converted file differs from what was recorded; with `record` it records instead. */
export function checkSums(files, record) {
  const known = fs.existsSync(checksumsFile) ? JSON.parse(fs.readFileSync(checksumsFile, 'utf8')) : {};
  if (record) {
    for (const file of files) known[file.name] = file.sha256;
    const sorted = Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)));
    fs.writeFileSync(checksumsFile, JSON.stringify(sorted, null, 2) + '\n');
    return;
  }
  for (const file of files) {
    if (known[file.name] !== file.sha256) {
      throw new Error(`${file.name}: SHA-256 is ${file.sha256}, checksums.json has ${known[file.name] ?? 'no entry'}`);
    }
  }
}
