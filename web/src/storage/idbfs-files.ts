// Reads what IDBFS stored, without IDBFS: a database per folder, with one object store of entries by path.
//
// A backend is made only from files that were read, so that a tree which was never read can never be written over
// what is stored.
import type { IdbfsEntry } from '../engine/module.js';
import { NearfieldError } from '../errors.js';

// As in Emscripten's libidbfs.js.
const version = 21;
const storeName = 'FILE_DATA';

export interface StoredFiles {
  /** The database's name; also the folder in the memory file system. */
  folder: string;
  connection: IDBDatabase;
  entries: Map<string, IdbfsEntry>;
}

export const folderOf = (store: string): string => `/nearfield/${encodeURIComponent(store)}`;

export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new NearfieldError('IO', 'IndexedDB failed and did not say why'));
  });
}

/** Connects to a folder's database, which is made when it is not there. */
export function connect(folder: string): Promise<IDBDatabase> {
  const request = indexedDB.open(folder, version);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(storeName).createIndex('timestamp', 'timestamp', { unique: false });
  };
  return answer(request);
}

/** The entries, for reading. */
export const objectsOf = (connection: IDBDatabase): IDBObjectStore =>
  connection.transaction(storeName, 'readonly').objectStore(storeName);

/** Connects to a store's database, which is made when it is not there, and reads every entry once. */
export async function readStoredFiles(store: string): Promise<StoredFiles> {
  const folder = folderOf(store);
  const connection = await connect(folder);
  const entries = new Map<string, IdbfsEntry>();
  try {
    const objects = objectsOf(connection);
    const keys = await answer(objects.getAllKeys());
    const values = await Promise.all(keys.map((key) => answer(objects.get(key) as IDBRequest<IdbfsEntry>)));
    keys.forEach((key, i) => entries.set(key as string, values[i] as IdbfsEntry));
  } catch (error) {
    connection.close();
    throw error;
  }
  return { folder, connection, entries };
}
