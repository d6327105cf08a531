// Documents with text and sentence embeddings out of the package
// @sap-ux/fiori-docs-embeddings.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { withPackage } from './packages.mjs';

export const DOCS_PACKAGE = '@sap-ux/fiori-docs-embeddings@1.2.6';
export const DOC_DIMENSIONS = 384;

/** { lines, vectors }: line i describes row i. */
export function readDocs(say) {
  return withPackage(DOCS_PACKAGE, say, (folder) => {
    const data = path.join(folder, 'data', 'embeddings');
    const lines = fs.readFileSync(path.join(data, 'records.jsonl'), 'utf8').split('\n').filter((line) => line !== '');
    const bytes = Uint8Array.from(fs.readFileSync(path.join(data, 'embeddings.bin')));
    const vectors = new Float32Array(bytes.buffer);
    if (vectors.length !== lines.length * DOC_DIMENSIONS) {
      throw new Error(`${lines.length} records do not fit ${vectors.length} numbers`);
    }
    return { lines, vectors };
  });
}

// About what the embeddings have read of each text, and enough to search: all of the texts are 6 MB.
const BODY_LENGTH = 2000;

/** What the demo page shows and searches of a document, with its texts as prose. */
export function demoDocument(line) {
  const { document_id, title, content, category, tags_json, wordCount } = JSON.parse(line);
  return {
    id: document_id.replace(/^local-/, ''),
    title: titleOf(title, content),
    body: shorten(proseOf(content), BODY_LENGTH),
    category,
    tags: [...new Set(JSON.parse(tags_json))],
    words: wordCount,
  };
}

/** Parts of a longer file are only numbered ("README.md - Chunk 3"): their first heading names them. */
function titleOf(title, content) {
  if (!/ - Chunk \d+$/.test(title)) return title;
  const heading = /^#+ (.+)/.exec(content)?.[1] ?? title;
  return heading.replace(/\[([^\]]*)\]\([^)]*\).*/, '$1').replace(/[`*]/g, '').trim();
}

/** Without title and tags, which are members of their own, and without labels and marks. */
function proseOf(content) {
  return content
    .replace(/^(?:\*\*)?(?:TITLE|TAGS|LANGUAGE)(?:\*\*)?:.*$/gm, '')
    .replace(/^(?:\*\*)?(?:INTRODUCTION|STEP|DESCRIPTION|CODE|FILE)(?:\*\*)?:/gm, '')
    .replace(/^```.*$/gm, '')
    .replace(/!?\[(?:!\[)?([^\]]*)\](?:\([^)]*\))+\)?/g, '$1')
    .replace(/^#+ |\*\*|-{4,}/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Cut between words. */
function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, text.lastIndexOf(' ', most))} …`;
}
