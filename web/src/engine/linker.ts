// Links the rows of one collection in slices, between which other calls are answered.
import { aborted, type NearfieldError } from '../errors.js';
import type { Progress } from '../types.js';
import type { Engine } from './engine.js';
import { nextTask } from './tasks.js';

/** What a call may look at and tell while it works. */
export interface CallContext {
  readonly aborted: boolean;
  progress(progress: Progress): void;
}

const sliceMicroseconds = 30_000;

interface Waiter {
  context: CallContext;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export class Linker {
  private waiters: Waiter[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly collection: number,
  ) {}

  get running(): boolean {
    return this.waiters.length > 0;
  }

  /** Resolves when every row is linked; fails with `ABORTED` when this call was asked to stop before. */
  finish(context: CallContext): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ context, resolve, reject });
      if (this.waiters.length === 1) void this.work();
    });
  }

  /** Stops; every call that waits fails with `error`. */
  stop(error: NearfieldError): void {
    for (const { reject } of this.waiters.splice(0)) reject(error);
  }

  private async work(): Promise<void> {
    try {
      for (;;) {
        await nextTask();
        this.dismissAborted();
        if (!this.running) return;
        const { done, total } = this.engine.link(this.collection, sliceMicroseconds);
        for (const { context } of this.waiters) context.progress({ phase: 'linking', done, total });
        if (done === total) break;
      }
      for (const { resolve } of this.waiters.splice(0)) resolve();
    } catch (error) {
      for (const { reject } of this.waiters.splice(0)) reject(error);
    }
  }

  private dismissAborted(): void {
    const stays: Waiter[] = [];
    for (const waiter of this.waiters) {
      if (!waiter.context.aborted) {
        stays.push(waiter);
        continue;
      }
      waiter.reject(
        aborted('stopped while linking: the rows are stored and are found by scanning; upsert or index() goes on'),
      );
    }
    this.waiters = stays;
  }
}
