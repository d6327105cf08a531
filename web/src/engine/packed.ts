// Packed stores that are handed in or come from the network.
import { NearfieldError, aborted, invalid } from '../errors.js';
import type { CallContext } from './linker.js';

/** Fetches a packed store, telling how far it is. */
export async function fetchPacked(address: string, context: CallContext): Promise<Uint8Array> {
  const response = await fetch(address).catch((error: unknown) => {
    throw new NearfieldError('IO', `${address} could not be fetched: ${error instanceof Error ? error.message : ''}`);
  });
  if (!response.ok || !response.body) {
    throw new NearfieldError('IO', `${address} could not be fetched: status ${response.status}`);
  }
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    throw new NearfieldError('IO', `${address} is a page of the server, not a packed store; is the file where it is served from?`);
  }
  // Not trusted for more than progress: with compression it counts other bytes.
  const total = Number(response.headers.get('content-length') ?? 0);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let done = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { value } = await reader.read();
    if (!value) break;
    if (context.aborted) {
      await reader.cancel();
      throw aborted('stopped while fetching; nothing was stored');
    }
    pieces.push(value);
    done += value.length;
    context.progress({ phase: 'fetching', done, total: Math.max(done, total) });
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** The bytes that were handed in, copied: a Buffer of Node is a part of a larger one. */
export function packedCopy(from: unknown): ArrayBuffer {
  if (!(from instanceof ArrayBuffer) && !(from instanceof Uint8Array)) {
    throw invalid('from must be an address, an ArrayBuffer, a Uint8Array or a Blob');
  }
  try {
    const bytes = from instanceof ArrayBuffer ? new Uint8Array(from) : from; // a view, which refuses detached memory
    return new Uint8Array(bytes).buffer;
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw invalid('from is a detached array: its memory was transferred elsewhere');
  }
}
