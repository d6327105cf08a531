// The synchronous engine in a worker of your own: `import { open } from 'nearfield/sync'`.
import { SyncDatabase, type SyncOpenOptions } from './client/sync.js';
import { packagedWasm } from './client/wasm.js';
import { pageHost } from './engine/page-host.js';

export { SyncCollection, SyncDatabase, type SyncOpenOptions } from './client/sync.js';
export { NearfieldError, errorCodes } from './errors.js';
export type { NearfieldErrorCode } from './errors.js';
export type * from './types.js';

/** Loads the engine into this thread and opens a store; everything after that but the storage is synchronous. */
export function open(name: string, options: SyncOpenOptions = {}): Promise<SyncDatabase> {
  return SyncDatabase.open(pageHost(), packagedWasm(), name, options);
}
