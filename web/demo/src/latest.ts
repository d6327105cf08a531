// Asynchronous work for the newest question only.

import { oncePerFrame } from './dom.ts';

/**
 * A function that asks for `work`: once a frame at most and never twice at the same time. However often it is asked
 * for meanwhile, it is done once more afterwards, so the latest wins.
 */
export function latestOnly(work: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let working = false;
  let again = false;
  const ask = oncePerFrame(() => {
    void run();
  });
  async function run(): Promise<void> {
    if (working) {
      again = true;
      return;
    }
    working = true;
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      working = false;
      if (again) {
        again = false;
        ask();
      }
    }
  }
  return ask;
}
