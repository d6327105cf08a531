// Threads: the workers that an engine with threads computes in, besides its own.
import type { ThreadedModule } from '../engine/module.js';

export interface Threads {
  /** How many threads builds and batches of searches use, the engine's own included. */
  readonly count: number;
  /** Makes them ready in the background; until then the engine works alone. */
  start(): void;
  /**
   * Resolves when the engine's worker may be ended, and its threads with it. Chromium now and then kept a worker that
   * was ended while its own workers started or were being ended.
   */
  end(): Promise<void>;
}

/** What an engine without threads has. */
export const oneThread: Threads = { count: 1, start() {}, end: () => Promise.resolve() };

/** Resolves once the worker has the engine's code; never waits for one that cannot be started. */
function loaded({ PThread }: ThreadedModule, worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    PThread.loadWasmModuleToWorker(worker).then(resolve, reject);
    // In place of the glue's, which throws what nobody catches.
    worker.onerror = (event) => {
      event.preventDefault?.();
      reject(new Error(event.message));
    };
  });
}

export class WorkerThreads implements Threads {
  private state: 'planned' | 'starting' | 'refused' | 'ended' = 'planned';
  private starting: Promise<void> = Promise.resolve();

  constructor(
    private readonly module: ThreadedModule,
    private readonly planned: number,
  ) {
    module.planThreads(planned);
  }

  get count(): number {
    return this.state === 'refused' ? 1 : this.planned;
  }

  start(): void {
    if (this.state !== 'planned') return;
    this.state = 'starting';
    this.starting = this.getReady().catch((error: unknown) => {
      this.module.PThread.terminateAllThreads();
      if (this.state === 'ended') return;
      this.state = 'refused';
      console.warn(`nearfield: works without threads: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async end(): Promise<void> {
    this.state = 'ended';
    await this.starting;
  }

  private async getReady(): Promise<void> {
    const { PThread } = this.module;
    for (let more = this.planned - 1; more > 0; --more) PThread.allocateUnusedWorker();
    await Promise.all(PThread.unusedWorkers.map((worker) => loaded(this.module, worker)));
    if (this.state === 'starting') this.module.startThreads();
  }
}
