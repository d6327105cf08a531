import { NearfieldError } from '../errors.js';
import type { Backend } from '../storage/backend.js';
import type { Engine } from './engine.js';

/** Flushes the engine and stores what it wrote. `onFlushed` is called in between: what changes later is not in it. */
export async function writeOut(engine: Engine, backend: Backend, onFlushed?: () => void): Promise<void> {
  const preparing = backend.prepare();
  if (preparing) await preparing;
  try {
    engine.flush();
  } catch (error) {
    // Rewriting old files may need parts that were released.
    if (!(error instanceof NearfieldError) || error.code !== 'IO') throw error;
    await backend.restore();
    engine.flush();
  }
  onFlushed?.();
  await backend.commit();
  backend.release();
}
