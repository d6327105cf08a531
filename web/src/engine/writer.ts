// Writer: the session of a store that several tabs share, in the one of them that holds the store's lock.
import { toErrorShape } from '../errors.js';
import type { CollectionCall, CollectionOpened, OpenCall, Opened, Request, Response } from '../protocol.js';
import { answering } from './answering.js';
import type { CallContext } from './linker.js';
import { Session, type SessionHost } from './session.js';

/** A request on its way to whichever tab writes. */
export interface Forwarded {
  /** The tab it comes from. */
  from: string;
  request: Request;
  /** How to open the collection that the request is about; its number is the tab's own. */
  collection?: CollectionCall;
  /** Of what was done before by a writer that is gone: the place among all that it did. */
  place?: number;
}

export class Writer {
  private readonly session: Session;
  private readonly tabs = new Map<string, (request: Request) => void>();
  /** The engine's numbers of collections, by tab and the tab's number. */
  private readonly collections = new Map<string, CollectionOpened>();
  /** What came in before the store was open. */
  private early: Forwarded[] | undefined = [];
  private opened: Opened | undefined;
  private failure: unknown;
  private ended = false;

  /**
   * Opens the store, and answers from then on. `reply` sends to a tab; `onDurable` is told how many of the changes
   * so far are stored, before the flush that stored them is answered.
   */
  constructor(
    host: SessionHost,
    call: OpenCall,
    private readonly reply: (tab: string, response: Response, transfer: ArrayBuffer[]) => void,
    onDurable: (changes: number) => void,
    progress: CallContext['progress'],
  ) {
    this.session = new Session(host, onDurable);
    void this.open(call, progress);
  }

  receive(message: Forwarded): void {
    if (this.early) this.early.push(message);
    else this.answer(message);
  }

  /** What is not answered by now will not be; the next writer does. */
  async close(): Promise<void> {
    this.ended = true;
    await this.session.call('close', undefined, { aborted: false, progress() {} });
  }

  private async open(call: OpenCall, progress: CallContext['progress']): Promise<void> {
    try {
      this.opened = await this.session.call('open', call, { aborted: false, progress });
    } catch (error) {
      this.failure = error;
    }
    // What another writer had done before comes first, in its order.
    const { early = [] } = this;
    this.early = undefined;
    const last = Number.MAX_SAFE_INTEGER;
    early.sort((a, b) => (a.place ?? last) - (b.place ?? last));
    for (const message of early) this.answer(message);
  }

  private answer({ from, request, collection }: Forwarded): void {
    if ('abort' in request) {
      this.tab(from)(request);
      return;
    }
    const { id, name } = request;
    try {
      if (!this.opened) throw this.failure;
      if (name === 'open') {
        this.send(from, { id, answer: this.opened });
      } else if (name === 'collection') {
        const { options } = this.collectionOf(from, id, request.arguments);
        this.send(from, { id, answer: { collection: id, options } });
      } else if (collection) {
        const args = request.arguments as { collection: number };
        const opened = this.collectionOf(from, args.collection, collection);
        this.tab(from)({ ...request, arguments: { ...args, collection: opened.collection } } as Request);
      } else {
        this.tab(from)(request);
      }
    } catch (error) {
      this.send(from, { id, error: toErrorShape(error) });
    }
  }

  private collectionOf(tab: string, number: number, call: CollectionCall): CollectionOpened {
    const key = `${tab} ${number}`;
    let opened = this.collections.get(key);
    if (!opened) this.collections.set(key, (opened = this.session.collection(call)));
    return opened;
  }

  private tab(from: string): (request: Request) => void {
    let receive = this.tabs.get(from);
    if (!receive) {
      receive = answering(this.session, (response, transfer) => this.send(from, response, transfer));
      this.tabs.set(from, receive);
    }
    return receive;
  }

  private send(to: string, response: Response, transfer: ArrayBuffer[] = []): void {
    if (!this.ended) this.reply(to, response, transfer);
  }
}
