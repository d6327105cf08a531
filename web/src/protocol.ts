// The calls between the client and the session that owns the engine, and their messages when a worker lies between.
import type { PackedBatch, PackedIds, PackedRank, PackedSearch, PackedUpdate } from './arguments.js';
import type { Ranked } from './engine/engine.js';
import type { PackedFacets, PackedField } from './records.js';
import type { FullOptions } from './engine/answers.js';
import type { ErrorShape } from './errors.js';
import type { WasmAddresses } from './module/fetch.js';
import type { CollectionOptions, CollectionStats, DatabaseInfo, FacetCount, Progress, StorageChoice, StorageKind, ThreadsChoice } from './types.js';

export interface OpenCall {
  name: string;
  storage: StorageChoice;
  readOnly: boolean;
  /** With other tabs, of which one writes for all. */
  shared?: boolean;
  threads: ThreadsChoice;
  /** An address, or the packed store itself. */
  from?: string | ArrayBuffer | Blob;
  /** Where the engine's code is; in Node it lies beside the program. */
  wasm?: WasmAddresses;
}

export interface Opened {
  storage: StorageKind;
  warning?: string;
  persisted: boolean;
}

export interface CollectionCall {
  name: string;
  /** Undefined: open what is there. */
  options: FullOptions | undefined;
  given: CollectionOptions;
}

export interface CollectionOpened {
  collection: number;
  options: FullOptions;
}

/** Every call: what goes in and what comes back. */
export interface Calls {
  open: { arguments: OpenCall; answer: Opened };
  collection: { arguments: CollectionCall; answer: CollectionOpened };
  collections: { arguments: undefined; answer: string[] };
  drop: { arguments: { name: string }; answer: void };
  upsert: { arguments: { collection: number; batch: PackedBatch }; answer: number };
  update: { arguments: { collection: number; update: PackedUpdate }; answer: number };
  index: { arguments: { collection: number }; answer: void };
  compact: { arguments: { collection: number }; answer: void };
  delete: { arguments: { collection: number; ids: PackedIds }; answer: number };
  clear: { arguments: { collection: number }; answer: void };
  get: { arguments: { collection: number; ids: PackedIds }; answer: Uint8Array<ArrayBuffer> };
  search: { arguments: { collection: number; search: PackedSearch }; answer: Uint8Array<ArrayBuffer> };
  rank: { arguments: { collection: number; search: PackedRank }; answer: Ranked };
  fields: { arguments: { collection: number }; answer: PackedField[] };
  setFields: { arguments: { collection: number; fields: PackedField[] }; answer: void };
  countWhere: { arguments: { collection: number; where: string }; answer: number };
  deleteWhere: { arguments: { collection: number; where: string }; answer: number };
  facets: { arguments: { collection: number; facets: PackedFacets }; answer: FacetCount[] };
  stats: { arguments: { collection: number }; answer: CollectionStats };
  flush: { arguments: undefined; answer: void };
  export: { arguments: undefined; answer: Uint8Array<ArrayBuffer> };
  info: { arguments: undefined; answer: DatabaseInfo };
  close: { arguments: undefined; answer: void };
}

export type CallName = keyof Calls;

const changes: readonly CallName[] = ['drop', 'upsert', 'update', 'delete', 'clear', 'setFields', 'deleteWhere'];

/** Whether a call changes records, so that it is lost until a flush when it is not made again. */
export const isChange = (name: CallName): boolean => changes.includes(name);

/** From the client. `id` numbers the calls; `abort` asks one of them to stop. */
export type Request =
  | { [Name in CallName]: { id: number; name: Name; arguments: Calls[Name]['arguments'] } }[CallName]
  | { abort: number };

/** From the session. */
export type Response =
  | { id: number; progress: Progress }
  /** `changes`: how many had taken effect, this one included. */
  | { id: number; answer: Calls[CallName]['answer']; changes?: number }
  | { id: number; error: ErrorShape };

/** Buffers of a message's own, which move instead of being copied. */
export function buffersOf(value: unknown): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return value.buffer instanceof ArrayBuffer && value.byteLength > 0 ? [value.buffer] : [];
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap(buffersOf))];
}
