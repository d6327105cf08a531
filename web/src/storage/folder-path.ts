// Where a folder is, said once: the program may change its working folder while a store is open.
import { resolve } from 'node:path';
import type { StorageChoice } from '../types.js';

/** The options of open() with the whole path of the folder; what is wrong with them is left to the checks. */
export function withWholeFolder<Options extends { storage?: StorageChoice }>(options: Options): Options {
  const storage = (options as Options | null)?.storage;
  if (typeof storage !== 'object' || storage === null) return options;
  const { folder } = storage;
  if (typeof folder !== 'string' || folder === '' || folder.includes('\0')) return options;
  return { ...options, storage: { ...storage, folder: resolve(folder) } };
}
