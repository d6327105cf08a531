// open(): checks the options, starts the session and returns its database.
import { checkOpen } from '../arguments.js';
import { packedCopy } from '../engine/packed.js';
import { NearfieldError, aborted, invalid } from '../errors.js';
import { fileOf, variants, type Variant } from '../module/probe.js';
import type { WasmAddresses } from '../module/fetch.js';
import type { OpenCall } from '../protocol.js';
import type { Database, OpenOptions, StorageChoice } from '../types.js';
import { ClientDatabase } from './database.js';
import type { Link } from './link.js';

/** What differs between a page and Node. */
export interface Platform {
  readonly defaultStorage: StorageChoice;
  /** Where the engine's code lies; undefined when the session knows by itself. */
  wasm(): WasmAddresses | undefined;
  startLink(worker: OpenOptions['worker'], call: OpenCall): Link;
  /** A relative address as a whole one; the worker may live elsewhere. */
  absolute(address: string | URL): string;
  /** Asks the browser to keep the site's data for good; only a page can, no worker. */
  persist(): Promise<void>;
}

function wasmAddresses(platform: Platform, wasmUrl: OpenOptions['wasmUrl']): WasmAddresses | undefined {
  if (wasmUrl === undefined) return platform.wasm();
  if (typeof wasmUrl !== 'function') return { simd: absoluteAddress(platform, wasmUrl, 'wasmUrl') };
  const addressOf = (variant: Variant): string =>
    absoluteAddress(platform, wasmUrl(fileOf(variant)), 'what wasmUrl returns');
  return Object.fromEntries(variants.map((variant) => [variant, addressOf(variant)]));
}

function absoluteAddress(platform: Platform, address: unknown, what: string): string {
  if (typeof address !== 'string' && !(address instanceof URL)) throw invalid(`${what} must be an address, a string or URL`);
  try {
    return platform.absolute(address);
  } catch (error) {
    throw invalid(`${what} is no address: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function startLink(platform: Platform, worker: OpenOptions['worker'], call: OpenCall): Link {
  try {
    return platform.startLink(worker, call);
  } catch (error) {
    if (error instanceof NearfieldError) throw error;
    throw invalid(`the worker cannot be started: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function packedSource(platform: Platform, from: NonNullable<OpenOptions['from']>): NonNullable<OpenCall['from']> {
  if (typeof from === 'string' || from instanceof URL) return absoluteAddress(platform, from, 'from');
  if (from instanceof Blob) return from;
  return packedCopy(from);
}

/** Ends the waiting when the signal says so; the session is then thrown away whole. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(aborted('stopped while opening'));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
  });
}

export async function openDatabase(platform: Platform, name: string, options: OpenOptions): Promise<Database> {
  checkOpen(name, options);
  const { storage = platform.defaultStorage, readOnly = false, shared = false, persist = false, threads = 'auto', from, signal, onProgress } = options;
  if (signal?.aborted) throw aborted('stopped before it began');
  const wasm = wasmAddresses(platform, options.wasmUrl);
  const call: OpenCall = {
    name,
    storage,
    readOnly,
    shared,
    threads,
    ...(from === undefined ? {} : { from: packedSource(platform, from) }),
    ...(wasm === undefined ? {} : { wasm }),
  };
  if (persist) await platform.persist();
  const link = startLink(platform, options.worker, call);
  try {
    const opened = await untilAborted(link.call('open', call, { onProgress, signal }), signal);
    return new ClientDatabase(link, name, readOnly, opened);
  } catch (error) {
    await link.end();
    throw error;
  }
}

export const noFolder = (): NearfieldError =>
  new NearfieldError('UNSUPPORTED', 'storage { folder } is for Node; a page has "indexeddb" and "memory"');
