// The client in Node.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { nodeHost } from '../engine/node-host.js';
import { Session } from '../engine/session.js';
import { NearfieldError, toNearfieldError } from '../errors.js';
import type { OpenCall, Request, Response } from '../protocol.js';
import { releaseOfThread } from '../storage/folder-lock.js';
import { WorkerLink, type Link, type Port } from './link.js';
import { LocalLink } from './local-link.js';
import type { Platform } from './open.js';

class ThreadPort implements Port {
  constructor(
    private readonly worker: Worker,
    { storage, readOnly }: OpenCall,
  ) {
    if (readOnly || typeof storage === 'string') return;
    const { threadId } = worker; // known only while it runs
    worker.on('exit', () => releaseOfThread(storage.folder, threadId));
  }

  post(request: Request, transfer: ArrayBuffer[]): void {
    this.worker.postMessage(request, transfer);
  }

  listen(onResponse: (response: Response) => void, onFailure: (error: NearfieldError) => void): void {
    this.worker.on('message', onResponse);
    this.worker.on('error', (error) => onFailure(toNearfieldError(error)));
    this.worker.on('exit', () => onFailure(new NearfieldError('CLOSED', 'the store is closed')));
  }

  /** An open store alone does not keep the program alive. */
  busy(busy: boolean): void {
    if (busy) this.worker.ref();
    else this.worker.unref();
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}

export const nodePlatform: Platform = {
  defaultStorage: 'memory',
  wasm: () => undefined,
  startLink(worker, call): Link {
    if (call.shared) throw new NearfieldError('UNSUPPORTED', 'stores are shared between the tabs of a browser only');
    if (worker === false) return new LocalLink(Promise.resolve(new Session(nodeHost())));
    if (worker !== undefined && typeof worker !== 'string' && !(worker instanceof URL)) {
      throw new NearfieldError('INVALID_ARGUMENT', 'in Node, worker is false or the address of a program');
    }
    return new WorkerLink(new ThreadPort(new Worker(worker ?? new URL('./node-worker.js', import.meta.url)), call));
  },
  persist: () => Promise.resolve(),
  absolute(address) {
    if (address instanceof URL) return address.href;
    return /^[a-z][a-z0-9+.-]+:/i.test(address) ? address : pathToFileURL(resolve(address)).href;
  },
};
