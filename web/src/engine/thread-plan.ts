// How many threads an engine gets, and whether it can have any.
import type { ThreadPlan } from '../module/load.js';
import type { ThreadsChoice } from '../types.js';

const mostByItself = 8;

/** `program` as in ThreadPlan. Undefined: one thread. */
export function threadPlan(
  choice: ThreadsChoice,
  processors: number,
  program: string | undefined,
): ThreadPlan | undefined {
  const count = choice === 'auto' ? Math.min(processors, mostByItself) : choice;
  return program !== undefined && count > 1 ? { count, program } : undefined;
}
