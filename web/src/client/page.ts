// The client in a page.
import { NearfieldError } from '../errors.js';
import type { Request, Response } from '../protocol.js';
import type { OpenOptions } from '../types.js';
import { WorkerLink, type Link, type Port } from './link.js';
import { LocalLink } from './local-link.js';
import type { Platform } from './open.js';
import { packagedWasm } from './wasm.js';

class WorkerPort implements Port {
  constructor(private readonly worker: Worker) {}

  post(request: Request, transfer: ArrayBuffer[]): void {
    this.worker.postMessage(request, transfer);
  }

  listen(onResponse: (response: Response) => void, onFailure: (error: NearfieldError) => void): void {
    this.worker.addEventListener('message', ({ data }: MessageEvent<Response>) => onResponse(data));
    this.worker.addEventListener('error', ({ message }) => {
      const what = message ? `stopped: ${message}` : 'could not be loaded';
      const hint = 'if the bundler does not find it, pass open() the option worker (see "Bundlers" in the README)';
      onFailure(new NearfieldError('IO', `the worker ${what}; ${hint}`));
    });
  }

  busy(): void {}

  end(): void {
    this.worker.terminate();
  }
}

function startWorker(choice: Exclude<OpenOptions['worker'], false>): Worker {
  if (choice instanceof Worker) return choice;
  if (choice !== undefined && typeof choice !== 'string' && !(choice instanceof URL)) {
    throw new NearfieldError('INVALID_ARGUMENT', 'worker must be a worker, its address, or false');
  }
  if (choice !== undefined) return new Worker(choice, { type: 'module', name: 'nearfield' });
  // Bundlers look for exactly this expression.
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

export const pagePlatform: Platform = {
  defaultStorage: 'indexeddb',
  wasm: packagedWasm,
  startLink(worker, { shared }): Link {
    if (worker === false) {
      if (shared) throw new NearfieldError('UNSUPPORTED', 'a store is shared by workers only; leave out worker: false');
      // Most pages use the worker: they do not load the engine's glue themselves.
      return new LocalLink(import('../engine/page-host.js').then(({ pageSession }) => pageSession()));
    }
    if (typeof Worker === 'undefined') {
      throw new NearfieldError('UNSUPPORTED', 'there are no workers here; use open() in a page, or worker: false');
    }
    return new WorkerLink(new WorkerPort(startWorker(worker)));
  },
  absolute: (address) => new URL(address, globalThis.location?.href).href,
  async persist() {
    await globalThis.navigator?.storage?.persist?.();
  },
};
