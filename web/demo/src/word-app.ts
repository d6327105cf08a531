// The words: opens the store, fills it, and hands it to the views. At any time the page is in
// one of four states: opening, without a store, filling (searchable already), ready.

import { NearfieldError } from 'nearfield';
import { probeData } from './data/fetch.ts';
import { htmlById, setText } from './dom.ts';
import { Explorer } from './explorer.ts';
import { bytes, count } from './format.ts';
import { RecallMeter } from './measure/recall.ts';
import { type Parameters, allWords } from './parameters.ts';
import { fill } from './store/fill.ts';
import { type BuildRecord, PageMemory } from './store/record.ts';
import { WordStore } from './store/word-store.ts';
import { BuildPanel } from './views/build-panel.ts';
import { confirmDelete } from './views/confirm.ts';
import { Notice, type NoticeAction } from './views/notice.ts';
import { ReopenPanel, type Reopened } from './views/reopen.ts';
import { SetupPanel } from './views/setup-panel.ts';
import { showStatus } from './views/status.ts';
import { StoreCard } from './views/store-card.ts';
import { Tuning } from './views/tuning.ts';
import { Vocabulary } from './words/vocabulary.ts';

const packedUrl = 'data/words.nfpack';

export class WordApp {
  private readonly memory = new PageMemory('nearfield-word-explorer', 'words');
  private readonly vocabulary = new Vocabulary();
  private readonly notice = new Notice('notice', { name: 'word vectors', set: 'demo-words' });
  private readonly setup = new SetupPanel();
  private readonly build = new BuildPanel(() => this.work?.abort());
  private readonly reopen = new ReopenPanel(() => {
    void this.reload();
  });
  private readonly card = new StoreCard({
    onGrow: () => {
      void this.fillTo(allWords);
    },
    onPersist: () => {
      void this.persist();
    },
    onDelete: () => {
      void this.deleteStore();
    },
  });
  private readonly meter = new RecallMeter((state) => {
    this.tuning.show(state);
  });
  private readonly tuning = new Tuning((ef) => {
    this.meter.postpone();
    this.meter.want(ef);
    this.explorer.efChanged();
  });
  private readonly explorer = new Explorer(this.vocabulary, {
    ef: () => this.tuning.ef,
    onActivity: () => {
      this.meter.postpone();
    },
    onError: (error) => {
      this.fail(error, []);
    },
  });
  private store: WordStore | undefined;
  private work: AbortController | undefined;

  constructor(private readonly parameters: Parameters) {}

  focus(): void {
    this.explorer.focus();
  }

  /** Opens what is stored; without a store, builds one or offers how to get one. */
  async start(readOnly = false): Promise<void> {
    showStatus('status', 'busy', 'Opening the store…');
    this.card.showCount(0);
    this.meter.want(this.tuning.ef);
    try {
      const reopened = await this.openStore({ readOnly });
      if (reopened) await this.ready({ reopened });
      else if (this.parameters.autoStart && !this.memory.read().manual && !readOnly) await this.fillTo(this.parameters.words);
      else await this.offer();
    } catch (error) {
      this.fail(error, this.actionsAfterOpening(error));
    }
  }

  /** Opens the store; the figures when it holds words, measured before anything is searched. */
  private async openStore(options: { readOnly?: boolean; from?: string }): Promise<Reopened | undefined> {
    const begin = performance.now();
    let engineMs = 0;
    const store = await WordStore.open(
      this.memory.read().storeName,
      {
        storage: this.parameters.storage,
        readOnly: options.readOnly ?? false,
        ...(options.from === undefined ? {} : { from: options.from }),
        ...(this.work ? { signal: this.work.signal } : {}),
        onProgress: ({ phase, done, total }) => {
          if (phase === 'fetching') this.build.download(done, total);
          if (phase === 'reading' && done === 0) engineMs = performance.now() - begin;
        },
      },
      (rank) => this.vocabulary.words[rank],
      (word) => this.vocabulary.rank(word),
    );
    this.store = store;
    const words = await store.count();
    const ms = performance.now() - begin;
    if (words === 0) return undefined;
    const distances = await store.distances();
    await this.vocabulary.ensure(words);
    await store.learnIds();
    return { ms, engineMs, distances, words };
  }

  /** Fills the store up to `target` words, searchable from the first batch on. */
  private async fillTo(target: number): Promise<void> {
    const store = this.store;
    if (!store || this.work) return;
    const work = new AbortController();
    this.work = work;
    const before = await store.count();
    this.memory.change({ target, manual: false });
    this.setup.hide();
    this.notice.hide();
    this.reopen.hide();
    this.allow();
    this.meter.restart(undefined, []);
    this.build.start(before > 0 ? `Growing the store to ${count(target)} words` : `Building a store of ${count(target)} words`);
    showStatus('status', 'busy', 'Building…');
    try {
      const result = await fill(store, this.vocabulary, target, {
        signal: work.signal,
        onProgress: (progress) => {
          this.build.fill(progress);
        },
        onWords: (words) => {
          this.explorer.attach(store, words);
          this.card.showCount(words);
        },
      });
      const earlier = before > 0 ? this.memory.read().build : undefined;
      // Continued builds add up; without a record of the beginning there is nothing to compare.
      const known = before === 0 || earlier !== undefined;
      const build: BuildRecord = {
        engineMs: (earlier?.engineMs ?? 0) + result.engineMs,
        rows: result.count,
        distances: (earlier?.distances ?? 0) + (await store.buildDistances()),
        how: earlier?.how ?? 'built',
      };
      this.memory.change({ build: known && result.count > 0 ? build : undefined });
      this.work = undefined;
      this.build.end();
      await this.settle();
    } catch (error) {
      this.work = undefined;
      this.build.end();
      await this.settle().catch(() => undefined);
      this.fail(error, [{ label: 'Try again', run: () => void this.fillTo(target) }]);
    }
  }

  /** Shows what a fill left behind, whole, in part, or nothing. */
  private async settle(): Promise<void> {
    if (((await this.store?.count()) ?? 0) > 0) await this.ready({});
    else await this.offer();
  }

  /** Replaces the empty store by one that was packed elsewhere. */
  private async fetchPacked(): Promise<void> {
    const work = new AbortController();
    this.work = work;
    this.setup.hide();
    this.build.start('Fetching the packed store');
    showStatus('status', 'busy', 'Fetching…');
    const begin = performance.now();
    try {
      await this.closeStore();
      this.memory.change({ storeName: `words-${Date.now()}` });
      const opened = await this.openStore({ from: packedUrl });
      await this.store?.flush();
      if (opened) {
        this.memory.change({
          target: opened.words,
          manual: false,
          build: { engineMs: performance.now() - begin, rows: opened.words, distances: opened.distances, how: 'packed' },
        });
      }
      this.work = undefined;
      this.build.end();
      await this.ready({});
    } catch (error) {
      this.work = undefined;
      this.build.end();
      await this.openStore({}).catch(() => undefined);
      await this.offer();
      if (!work.signal.aborted) this.fail(error, []);
    }
  }

  /** No store yet: the two ways to get one. */
  private async offer(): Promise<void> {
    const { words } = this.parameters;
    this.explorer.attach(undefined, 0);
    this.card.showCount(0);
    this.allow();
    showStatus('status', 'idle', 'No store yet');
    const buildIt = {
      label: `Build it here: ${count(words)} words`,
      primary: true,
      run: () => void this.fillTo(words),
    };
    const text =
      `This page can build a store from the ${count(words)} most frequent words now ` +
      `(a download of ${bytes(words * 400)}), and you can search while it builds.`;
    this.setup.show('Get the words', text, [buildIt]);
    const packed = await probeData(packedUrl);
    if (this.work || this.store === undefined || (await this.store.count()) > 0) return;
    if (packed) {
      const size = packed.bytes === undefined ? '' : ` (${bytes(packed.bytes)})`;
      this.setup.show(
        'Get the words',
        `${text} Or it can fetch a store${size} that the native program built, ready to search.`,
        [buildIt, { label: 'Fetch the packed store', run: () => void this.fetchPacked() }],
      );
    } else {
      this.setup.show('Get the words', text, [buildIt], `This server has no packed store (${packedUrl}) to fetch instead.`);
    }
  }

  /** The store holds words: everything is shown and measured. */
  private async ready(options: { reopened?: Reopened }): Promise<void> {
    const { store } = this;
    if (!store) return;
    const known = await store.count();
    const record = this.memory.read();
    this.explorer.attach(store, known);
    setText(htmlById('intro-count'), count(known));
    const partial = known < record.target && !store.readOnly;
    if (partial) {
      const { target } = record;
      this.setup.show(
        `Stopped at ${count(known)} of ${count(target)} words`,
        'These words are stored and can be searched. Going on adds the rest.',
        [{ label: `Go on to ${count(target)} words`, primary: true, run: () => void this.fillTo(target) }],
      );
    } else {
      this.setup.hide();
    }
    if (options.reopened) this.reopen.showReopened(options.reopened, record.build);
    else if (record.build && store.storage !== 'memory') this.reopen.showBuilt(record.build);
    else this.reopen.hide();
    showStatus('status', 'ready', store.readOnly ? `${count(known)} words, read-only` : `${count(known)} words ready`);
    await this.showCard();
    this.meter.restart(store, this.vocabulary.words.slice(0, known));
  }

  private async showCard(): Promise<void> {
    const { store } = this;
    if (!store) return;
    const facts = await store.facts();
    const persisted = await isPersisted();
    this.card.show(facts, { kind: store.storage, persisted, warning: store.warning });
    this.allow({ count: facts.count, persisted });
  }

  private allow(now?: { count: number; persisted: boolean }): void {
    const { store } = this;
    const free = store !== undefined && now !== undefined && !this.work && !store.readOnly;
    this.card.allow({
      grow: free && now.count < allWords && now.count >= this.memory.read().target ? allWords : undefined,
      persist: free && !now.persisted && store.storage === 'indexeddb',
      remove: free && now.count > 0,
    });
  }

  private async persist(): Promise<void> {
    const kept = await navigator.storage.persist();
    await this.showCard();
    this.card.say(
      kept
        ? 'The browser promised to keep this site’s data.'
        : 'The browser declined for now; it usually agrees for pages that are bookmarked or often used.',
    );
  }

  private async deleteStore(): Promise<void> {
    const { store } = this;
    if (!store || !(await confirmDelete(await store.count()))) return;
    this.meter.restart(undefined, []);
    this.explorer.attach(undefined, 0);
    this.reopen.hide();
    this.notice.hide();
    try {
      await store.erase();
      this.memory.change({ target: 0, build: undefined, manual: true });
      await this.offer();
      this.setup.focus();
    } catch (error) {
      this.fail(error, []);
    }
  }

  /** Closes first, so that the new page does not wait for this one's lock. */
  private async reload(): Promise<void> {
    this.meter.restart(undefined, []);
    try {
      await this.closeStore();
    } catch {
      // The reload opens what was flushed.
    }
    location.reload();
  }

  private async closeStore(): Promise<void> {
    const { store } = this;
    this.store = undefined;
    await store?.close();
  }

  private actionsAfterOpening(error: unknown): NoticeAction[] {
    const again = { label: 'Try again', run: () => void this.start() };
    const code = error instanceof NearfieldError ? error.code : undefined;
    if (code === 'LOCKED') return [again, { label: 'Look without changing', run: () => void this.start(true) }];
    if (code === 'CORRUPT' || code === 'FOREIGN_FILE' || code === 'NEWER_VERSION') {
      const fresh = (): void => {
        this.memory.change({ storeName: `words-${Date.now()}`, target: 0, build: undefined });
        void this.start();
      };
      return [{ label: 'Start over', run: fresh }, again];
    }
    return [again];
  }

  private fail(error: unknown, actions: readonly NoticeAction[]): void {
    console.error(error);
    this.notice.show(error, actions);
    if (!this.store) showStatus('status', 'failed', 'Not running');
  }
}

async function isPersisted(): Promise<boolean> {
  try {
    return await navigator.storage.persisted();
  } catch {
    return false; // not a secure page
  }
}
