// The session in the caller's thread.
import type { Session } from '../engine/session.js';
import { toNearfieldError } from '../errors.js';
import type { CallName, Calls } from '../protocol.js';
import type { LongCallOptions, Progress } from '../types.js';
import { tell, type Link } from './link.js';

export class LocalLink implements Link {
  constructor(private readonly session: Promise<Session>) {}

  async call<Name extends CallName>(
    name: Name,
    args: Calls[Name]['arguments'],
    { onProgress, signal }: LongCallOptions = {},
  ): Promise<Calls[Name]['answer']> {
    const context = {
      get aborted() {
        return signal?.aborted ?? false;
      },
      progress: (progress: Progress) => tell(onProgress, progress),
    };
    try {
      return await (await this.session).call(name, args, context);
    } catch (error) {
      throw toNearfieldError(error);
    }
  }

  end(): void {}
}
