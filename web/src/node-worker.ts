// The engine's worker in Node.
import { parentPort } from 'node:worker_threads';
import { nodeHost } from './engine/node-host.js';
import { serve } from './engine/serve.js';

const receive = serve(nodeHost, (response, transfer) => parentPort?.postMessage(response, transfer));
parentPort?.on('message', receive);
