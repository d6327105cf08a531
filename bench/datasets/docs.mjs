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
