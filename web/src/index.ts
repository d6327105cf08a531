// The package in a page: `import { open } from 'nearfield'`.
import { openDatabase } from './client/open.js';
import type { Database, OpenOptions } from './types.js';
import { pagePlatform } from './client/page.js';

export { NearfieldError, errorCodes } from './errors.js';
export type { NearfieldErrorCode } from './errors.js';
export type * from './types.js';

/**
 * Opens the store of this name, or makes an empty one. The engine runs in a worker of its own.
 *
 * Fails with `INVALID_ARGUMENT` (an unknown option), `LOCKED` (open for writing elsewhere), `FOREIGN_FILE`,
 * `NEWER_VERSION` or `CORRUPT` (what is stored cannot be read; it stays as it is), `IO`, `UNSUPPORTED`, `ABORTED`.
 */
export function open(name: string, options: OpenOptions = {}): Promise<Database> {
  return openDatabase(pagePlatform, name, options);
}
