// The engine's worker in Node. Its threads run this same program.
import { Worker, parentPort, workerData } from 'node:worker_threads';
import { nodeHost } from './engine/node-host.js';
import { serve } from './engine/serve.js';
import { runThread, threadName } from './module/run-thread.js';

/** The Worker of pages, as far as the engine's glue uses it. This thread is ours: nobody else sees it. */
class PageLikeWorker extends Worker {
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;

  constructor(address: string, { name }: { name: string }) {
    super(new URL(address), { workerData: { name, address } });
    this.on('message', (data: unknown) => this.onmessage?.({ data }));
    this.on('error', (error) => this.onerror?.(error));
    this.unref();
  }
}

const thread = workerData as { name: string; address: string } | null;

if (thread?.name === threadName) {
  const scope = Object.assign(globalThis, {
    self: globalThis,
    name: threadName,
    importScripts() {}, // what the glue knows a worker by
    location: { href: thread.address },
    onmessage: null as ((event: { data: unknown }) => void) | null,
    postMessage: (message: unknown) => parentPort?.postMessage(message),
  });
  parentPort?.on('message', (data: unknown) => scope.onmessage?.({ data }));
  await runThread(scope, thread.address);
} else {
  Object.assign(globalThis, { Worker: PageLikeWorker });
  const receive = serve(nodeHost(import.meta.url), (response, transfer) => parentPort?.postMessage(response, transfer));
  parentPort?.on('message', receive);
}
