// The engine's worker in a page: `nearfield/worker`.
import { pageHost } from './engine/page-host.js';
import { serve } from './engine/serve.js';
import type { Request } from './protocol.js';

interface WorkerScope {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<Request>) => void): void;
}

const scope = globalThis as unknown as WorkerScope;
const receive = serve(pageHost, (response, transfer) => scope.postMessage(response, transfer));
scope.addEventListener('message', ({ data }) => receive(data));
