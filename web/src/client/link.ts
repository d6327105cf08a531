// How the client reaches the session: through a worker here, in the same thread in local-link.ts.
import { NearfieldError, aborted } from '../errors.js';
import { buffersOf, type CallName, type Calls, type Request, type Response } from '../protocol.js';
import type { LongCallOptions, Progress } from '../types.js';

export interface Link {
  call<Name extends CallName>(
    name: Name,
    args: Calls[Name]['arguments'],
    options?: LongCallOptions,
  ): Promise<Calls[Name]['answer']>;
  /** Ends the worker; calls that are under way fail with `CLOSED`. */
  end(): void | Promise<void>;
}

/** A worker as the link needs it. */
export interface Port {
  post(request: Request, transfer: ArrayBuffer[]): void;
  listen(onResponse: (response: Response) => void, onFailure: (error: NearfieldError) => void): void;
  /** Told when the first call begins and when the last one ends. */
  busy(busy: boolean): void;
  end(): void | Promise<void>;
}

/** Calls a callback; what it throws must not stop the work. */
export function tell(onProgress: LongCallOptions['onProgress'], progress: Progress): void {
  try {
    onProgress?.(progress);
  } catch {
    // Nobody listens.
  }
}

interface Pending {
  resolve: (answer: unknown) => void;
  reject: (error: NearfieldError) => void;
  onProgress: LongCallOptions['onProgress'];
}

export class WorkerLink implements Link {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  private failure: NearfieldError | undefined;

  constructor(private readonly port: Port) {
    port.listen(
      (response) => this.receive(response),
      (error) => this.fail(error),
    );
  }

  call<Name extends CallName>(
    name: Name,
    args: Calls[Name]['arguments'],
    { onProgress, signal }: LongCallOptions = {},
  ): Promise<Calls[Name]['answer']> {
    if (signal?.aborted) return Promise.reject(aborted('stopped before it began; nothing was changed'));
    if (this.failure) return Promise.reject(this.failure);
    const id = ++this.lastId;
    const abort = (): void => this.port.post({ abort: id }, []);
    signal?.addEventListener('abort', abort, { once: true });
    const answer = new Promise<Calls[Name]['answer']>((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as Pending['resolve'], reject, onProgress });
    });
    if (this.pending.size === 1) this.port.busy(true);
    // The buffers were made for this call: they move.
    this.port.post({ id, name, arguments: args } as Request, name === 'open' ? [] : buffersOf(args));
    return answer.finally(() => signal?.removeEventListener('abort', abort));
  }

  end(): void | Promise<void> {
    this.fail(new NearfieldError('CLOSED', 'the store is closed'));
    return this.port.end();
  }

  private receive(response: Response): void {
    const call = this.pending.get(response.id);
    if (!call) return;
    if ('progress' in response) {
      tell(call.onProgress, response.progress);
      return;
    }
    this.pending.delete(response.id);
    if (this.pending.size === 0) this.port.busy(false);
    if ('error' in response) call.reject(new NearfieldError(response.error.code, response.error.detail));
    else call.resolve(response.answer);
  }

  private fail(error: NearfieldError): void {
    this.failure ??= error;
    for (const { reject } of this.pending.values()) reject(this.failure);
    this.pending.clear();
    this.port.busy(false);
  }
}
