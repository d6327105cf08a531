// A worker's program that runs one thread of an engine. The glue, when it is loaded in a worker of this name, sets a
// handler and waits for messages by itself.
import { glueOf } from './glue.js';
import { variants } from './probe.js';

/** What the glue calls the workers that it makes. */
export const threadName = 'em-pthread';

interface ThreadScope {
  onmessage: ((event: { data: unknown }) => void) | null;
}

/** `address` is the program's own, with the variant behind a # (see load.ts). */
export async function runThread(scope: ThreadScope, address: string): Promise<void> {
  const variant = variants.find((each) => address.endsWith(`#${each}`));
  if (!variant) throw new Error(`no engine build is named in ${address}`);
  const early: { data: unknown }[] = [];
  scope.onmessage = (event) => early.push(event);
  await glueOf(variant);
  for (const event of early) scope.onmessage(event);
}
