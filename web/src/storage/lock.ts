// One writer per store among all tabs and workers of a site. Who has a store for itself holds its lock; tabs that share
// one hold it together, and of those the one that writes holds a second one.
import { NearfieldError } from '../errors.js';

// A page that was just left may still hold its lock for a moment.
const waitMilliseconds = 1500;

const prefixes = { indexeddb: 'nearfield', opfs: 'nearfield-opfs' };

export type LockedStorage = keyof typeof prefixes;

/** Takes the store's lock and returns how to let it go. Fails with `LOCKED`. */
export function takeLock(store: string, storage: LockedStorage, mode: LockMode = 'exclusive'): Promise<() => void> {
  if (typeof navigator === 'undefined' || !navigator.locks) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(`${prefixes[storage]}:${store}`, { mode, signal: AbortSignal.timeout(waitMilliseconds) }, () => {
        return new Promise<void>((release) => resolve(release));
      })
      .catch((error: unknown) => {
        // Pages without an origin of their own have no locks, nor storage that others could write to.
        if (!(error instanceof DOMException) || error.name !== 'TimeoutError') {
          resolve(() => {});
          return;
        }
        reject(
          new NearfieldError(
            'LOCKED',
            `the store "${store}" is open for writing already, in this page, another tab or a worker; close it there, or open with readOnly`,
          ),
        );
      });
  });
}

/** Waits for this tab's turn to write, as long as it takes. `begin` is called with it; `signal` ends waiting and turn. */
export function waitForTurn(store: string, storage: LockedStorage, signal: AbortSignal, begin: () => void): void {
  navigator.locks
    .request(`${prefixes[storage]}-writer:${store}`, { signal }, () => {
      begin();
      return new Promise<void>((release) => signal.addEventListener('abort', () => release()));
    })
    .catch(() => {}); // given up
}
