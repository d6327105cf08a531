// Fetches the engine's code in a page.
import { NearfieldError } from '../errors.js';
import type { CodeSource } from './load.js';
import type { Variant } from './probe.js';

/** Where each variant's file is; a variant without an address is not used. */
export type WasmAddresses = Partial<Record<Variant, string>>;

const magic = [0x00, 0x61, 0x73, 0x6d];

async function compile(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok) {
    throw new NearfieldError('IO', `the engine's code could not be fetched: ${address} answers ${response.status}`);
  }
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!magic.every((value, i) => bytes[i] === value)) {
    throw new NearfieldError(
      'IO',
      `${address} is not the engine's code but something else, probably a page of the server. ` +
        `Pass open() the address of nearfield's .wasm file as wasmUrl (see "Bundlers" in the package's README)`,
    );
  }
  return WebAssembly.compile(bytes);
}

export const fetchedCode =
  (addresses: WasmAddresses): CodeSource =>
  async (variant) => {
    const address = addresses[variant];
    if (address === undefined) return undefined;
    try {
      return await compile(address);
    } catch (error) {
      if (error instanceof NearfieldError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new NearfieldError('IO', `the engine's code could not be loaded from ${address}: ${detail}`, { cause: error });
    }
  };
