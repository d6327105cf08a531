// The synchronous engine in Node: `import { open } from 'nearfield/sync'`.
import { SyncDatabase, type SyncOpenOptions } from './client/sync.js';
import { nodeHost } from './engine/node-host.js';
import { withWholeFolder } from './storage/folder-path.js';

export { SyncCollection, SyncDatabase, type SyncOpenOptions } from './client/sync.js';
export { NearfieldError, errorCodes } from './errors.js';
export type { NearfieldErrorCode } from './errors.js';
export type * from './types.js';

/** Loads the engine into this thread and opens a store; everything after that is synchronous. */
export async function open(name: string, options: SyncOpenOptions = {}): Promise<SyncDatabase> {
  return SyncDatabase.open(nodeHost(), undefined, name, withWholeFolder(options));
}
