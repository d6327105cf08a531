// Member: a tab's part in a store that several tabs share. One of them holds the writer's lock and runs the session
// (writer.ts); the others send it what their clients ask. When that tab closes or dies, the browser gives the lock to
// the next one, which opens the store and says so; then everybody sends once more
// - what changed by it since the last flush: the new writer does it first, in the old one's order,
// - and what was not answered.
// Whatever was never answered counts as concurrent to all that happened meanwhile, and all changes can be made twice.
//
// Between workers of different tabs there are broadcast channels only: one that the writer listens to, one for each
// tab, and one for what all should know.
import { NearfieldError, toErrorShape } from '../errors.js';
import { isChange, type CollectionCall, type OpenCall, type Request, type Response } from '../protocol.js';
import type { Send } from './answering.js';
import type { Membership, SessionHost } from './session.js';
import { Writer, type Forwarded } from './writer.js';

type Call = Exclude<Request, { abort: number }>;

interface Sent {
  call: Call;
  /** See Forwarded. */
  place?: number;
  /** Undefined: nobody waits. */
  answered?: Send;
}

/** What the writer tells everybody: that it writes now, or how many of its changes are stored. */
interface News {
  by: string;
  durable?: number;
}

interface Answer {
  by: string;
  response: Response;
}

// A tab that keeps more than this for the next writer asks for a flush.
const mostKeptBytes = 64 << 20;

function bytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + bytesOf(each), 0);
}

const numberOf = ({ arguments: args }: Call): number | undefined =>
  args !== undefined && 'collection' in args ? args.collection : undefined;

export class Member {
  private readonly id = crypto.getRandomValues(new Uint32Array(4)).join('-');
  private readonly channels: { toWriter: BroadcastChannel; news: BroadcastChannel; own: BroadcastChannel };
  private readonly others = new Map<string, BroadcastChannel>();
  /** By the call's number: what is not answered. */
  private readonly sent = new Map<number, Sent>();
  /** Changes that were answered, and that no flush has stored yet. */
  private kept: (Sent & { place: number })[] = [];
  private keptBytes = 0;
  private durable = 0;
  private readonly collections = new Map<number, CollectionCall>();
  /** Who writes, when that is known; and the session, when it is this tab. */
  private writing: string | undefined;
  private writer: Writer | undefined;
  private membership: Membership | undefined;
  private lastOwnCall = 0;

  constructor(
    private readonly host: SessionHost,
    private readonly call: OpenCall,
    private readonly send: Send,
  ) {
    const channel = (purpose: string): BroadcastChannel => new BroadcastChannel(this.channelName(purpose));
    this.channels = { toWriter: channel('writer'), news: channel('news'), own: channel(this.id) };
  }

  receive(request: Request): void {
    if ('abort' in request) this.forward({ from: this.id, request });
    else if (request.name === 'open') void this.join(request);
    else if (request.name === 'close') void this.leave(request.id);
    else this.ask(request, this.send);
  }

  private async join(open: Call): Promise<void> {
    const { own, news } = this.channels;
    try {
      if (!this.host.join) throw new NearfieldError('UNSUPPORTED', 'stores are shared between the tabs of a browser only');
      this.membership = await this.host.join(this.call);
    } catch (error) {
      this.send({ id: open.id, error: toErrorShape(error) }, []);
      return;
    }
    own.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data.by, data.response, []);
    news.onmessage = ({ data }: MessageEvent<News>) => this.hear(data);
    this.ask(open, this.send);
    await this.membership.turn;
    this.write(open.id);
  }

  /** This tab writes from now on. */
  private write(openCall: number): void {
    const { toWriter, news } = this.channels;
    const writer = new Writer(
      this.host,
      this.call,
      (tab, response, transfer) => {
        if (tab === this.id) this.take(this.id, response, transfer);
        else this.channelOf(tab).postMessage({ by: this.id, response } satisfies Answer);
      },
      (durable) => news.postMessage({ by: this.id, durable } satisfies News),
      (progress) => this.take(this.id, { id: openCall, progress }, []),
    );
    this.writer = writer;
    toWriter.onmessage = ({ data }: MessageEvent<Forwarded>) => writer.receive(data);
    news.postMessage({ by: this.id } satisfies News);
    this.hear({ by: this.id });
  }

  private hear({ by, durable }: News): void {
    if (durable === undefined) {
      this.writing = by;
      this.durable = 0;
      this.sendAgain();
    } else if (this.writing === undefined || this.writing === by) {
      this.durable = durable;
      this.kept = this.kept.filter(({ place }) => place > durable);
      this.keptBytes = this.kept.reduce((sum, { call }) => sum + bytesOf(call.arguments), 0);
    }
  }

  private sendAgain(): void {
    const waiting = [...this.sent.values()];
    const again = [...this.kept, ...waiting];
    this.kept = [];
    this.keptBytes = 0;
    for (const each of again) {
      this.sent.set(each.call.id, each);
      this.forward(this.message(each));
    }
  }

  private ask(call: Call, answered?: Send): void {
    if (call.name === 'collection') this.collections.set(call.id, call.arguments);
    const sent: Sent = answered ? { call, answered } : { call };
    this.sent.set(call.id, sent);
    this.forward(this.message(sent));
  }

  private message({ call, place }: Sent): Forwarded {
    const number = numberOf(call);
    const collection = number === undefined ? undefined : this.collections.get(number);
    return {
      from: this.id,
      request: call,
      ...(collection === undefined ? {} : { collection }),
      ...(place === undefined ? {} : { place }),
    };
  }

  private forward(message: Forwarded): void {
    if (this.writer) this.writer.receive(message);
    else this.channels.toWriter.postMessage(message);
  }

  private take(by: string, response: Response, transfer: ArrayBuffer[]): void {
    this.writing ??= by;
    const sent = this.sent.get(response.id);
    if (!sent || by !== this.writing) return; // of a writer that is gone; the present one is asked already
    if (!('progress' in response)) {
      this.sent.delete(response.id);
      if ('answer' in response && isChange(sent.call.name)) this.keep(sent.call, response.changes ?? 0);
    }
    sent.answered?.(response, transfer);
  }

  private keep(call: Call, place: number): void {
    if (this.writer || place <= this.durable) return;
    this.kept.push({ call, place });
    const before = this.keptBytes;
    this.keptBytes += bytesOf(call.arguments);
    if (before <= mostKeptBytes && this.keptBytes > mostKeptBytes) {
      this.ask({ id: --this.lastOwnCall, name: 'flush', arguments: undefined });
    }
  }

  /** Flushes, and lets another tab write. */
  private async leave(id: number): Promise<void> {
    let last = await new Promise<Response>((resolve) => {
      this.ask({ id, name: 'flush', arguments: undefined }, (response) => {
        if (!('progress' in response)) resolve(response);
      });
    });
    try {
      await this.writer?.close();
    } catch (error) {
      last = { id, error: toErrorShape(error) };
    }
    for (const channel of [...Object.values(this.channels), ...this.others.values()]) channel.close();
    this.membership?.end();
    this.send(last, []);
  }

  private channelOf(tab: string): BroadcastChannel {
    let channel = this.others.get(tab);
    if (!channel) this.others.set(tab, (channel = new BroadcastChannel(this.channelName(tab))));
    return channel;
  }

  private channelName(purpose: string): string {
    const { storage, name } = this.call;
    return `nearfield ${typeof storage === 'string' ? storage : 'folder'} ${purpose} ${name}`;
  }
}
