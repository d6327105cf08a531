// A worker's side of the protocol: a session of its own, or one that is shared with other tabs.
import type { Request } from '../protocol.js';
import { answering, type Send } from './answering.js';
import { Member } from './member.js';
import { Session, type SessionHost } from './session.js';

/** Returns what to call with every message. */
export function serve(host: SessionHost, send: Send): (request: Request) => void {
  let receive: ((request: Request) => void) | undefined;

  return (request) => {
    if (!receive) {
      const shared = 'name' in request && request.name === 'open' && request.arguments.shared;
      if (shared) {
        const member = new Member(host, request.arguments, send);
        receive = (each) => member.receive(each);
      } else {
        receive = answering(new Session(host), send);
      }
    }
    receive(request);
  };
}
