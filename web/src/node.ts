// The package in Node: `import { open } from 'nearfield'`.
import { nodePlatform } from './client/node.js';
import { openDatabase } from './client/open.js';
import { withWholeFolder } from './storage/folder-path.js';
import type { Database, OpenOptions } from './types.js';

export { NearfieldError, errorCodes } from './errors.js';
export type { NearfieldErrorCode } from './errors.js';
export type * from './types.js';

/** As in a page; the storage is `memory` unless a `{ folder }` is given. */
export async function open(name: string, options: OpenOptions = {}): Promise<Database> {
  return openDatabase(nodePlatform, name, withWholeFolder(options));
}
