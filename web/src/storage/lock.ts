// One writer per store among all tabs and workers of a site.
import { NearfieldError } from '../errors.js';

// A page that was just left may still hold its lock for a moment.
const waitMilliseconds = 1500;

const prefixes = { indexeddb: 'nearfield:', opfs: 'nearfield-opfs:' };

/** Takes the store's lock and returns how to let it go. Fails with `LOCKED`. */
export function takeLock(store: string, storage: keyof typeof prefixes): Promise<() => void> {
  if (typeof navigator === 'undefined' || !navigator.locks) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(`${prefixes[storage]}${store}`, { signal: AbortSignal.timeout(waitMilliseconds) }, () => {
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
