// The engine's worker in a page: `nearfield/worker`. Its threads run this same program, so that nobody has to know
// of another file.
import { pageHost } from './engine/page-host.js';
import { serve } from './engine/serve.js';
import { runThread, threadName } from './module/run-thread.js';
import type { Request } from './protocol.js';

interface WorkerScope {
  readonly name: string;
  readonly crossOriginIsolated: boolean;
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<Request>) => void): void;
}

const scope = globalThis as unknown as WorkerScope;

if (scope.name === threadName) {
  void runThread(scope, location.href);
} else {
  const host = pageHost(scope.crossOriginIsolated ? location.href : undefined);
  const receive = serve(host, (response, transfer) => scope.postMessage(response, transfer));
  scope.addEventListener('message', ({ data }) => receive(data));
}
