// Answers messages with a session: the worker's side of the protocol.
import { toErrorShape } from '../errors.js';
import { buffersOf, type Request, type Response } from '../protocol.js';
import type { Session } from './session.js';

export type Send = (response: Response, transfer: ArrayBuffer[]) => void;

const progressMilliseconds = 50;

/** Returns what to call with every message of one client. */
export function answering(session: Session, send: Send): (request: Request) => void {
  const running = new Map<number, { aborted: boolean }>();

  return (request) => {
    if ('abort' in request) {
      const call = running.get(request.abort);
      if (call) call.aborted = true;
      return;
    }
    const { id, name } = request;
    if (running.has(id)) return; // sent once more, while it is being answered
    let phase: string | undefined;
    let told = 0;
    const context = {
      aborted: false,
      // Not more often than a page can show; the first and the last of each phase always.
      progress: (progress: { phase: string; done: number; total: number }) => {
        const now = performance.now();
        if (progress.phase === phase && progress.done < progress.total && now - told < progressMilliseconds) return;
        phase = progress.phase;
        told = now;
        send({ id, progress } as Response, []);
      },
    };
    running.set(id, context);
    const answered = session.call(name, request.arguments, context);
    const { changes } = session; // with this one, which took effect just now
    answered
      .then((answer) => send({ id, answer, changes }, buffersOf(answer)))
      .catch((error: unknown) => send({ id, error: toErrorShape(error) }, []))
      .finally(() => running.delete(id));
  };
}
