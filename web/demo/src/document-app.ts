// The documents: opens the store or makes it, and hands it to the explorer.

import { NearfieldError } from 'nearfield';
import { DocumentExplorer } from './document-explorer.ts';
import { fetchDocuments } from './documents/data.ts';
import { htmlById, setText } from './dom.ts';
import { bytes, count, milliseconds } from './format.ts';
import type { Parameters } from './parameters.ts';
import { DocumentStore } from './store/document-store.ts';
import { PageMemory } from './store/record.ts';
import { Notice, type NoticeAction } from './views/notice.ts';
import { showStatus } from './views/status.ts';

export class DocumentApp {
  private readonly memory = new PageMemory('nearfield-documents', 'documents');
  private readonly notice = new Notice('docs-notice', { name: 'documents', set: 'demo-docs' });
  private readonly loading = htmlById('docs-loading');
  private readonly explorer = new DocumentExplorer((error) => {
    this.fail(error, [{ label: 'Try again', run: () => this.explorer.refresh() }]);
  });
  private store: DocumentStore | undefined;

  constructor(private readonly parameters: Parameters) {}

  focus(): void {
    this.explorer.focus();
  }

  /** Opens what is stored; without documents in it, fetches and stores them. */
  async start(): Promise<void> {
    showStatus('docs-status', 'busy', 'Opening the store…');
    try {
      const begin = performance.now();
      this.store ??= await this.openStore();
      const { store } = this;
      const opened = (await store.count()) > 0;
      const ms = performance.now() - begin;
      const how = opened ? await this.reopened(store, ms) : await this.fill(store);
      const facts = await store.facts();
      const place = store.storage === 'memory' ? 'in memory, gone with the page' : `${bytes(facts.storedBytes)} in IndexedDB`;
      setText(htmlById('docs-store'), [how, `${count(facts.count)} documents, ${place}.`, store.warning ?? ''].join(' ').trim());
      await this.explorer.attach(store);
      showStatus('docs-status', 'ready', `${count(facts.count)} documents ready`);
    } catch (error) {
      showStatus('docs-status', 'failed', 'Not running');
      this.fail(error, this.actionsAfter(error));
    } finally {
      this.loading.hidden = true;
    }
  }

  private async openStore(): Promise<DocumentStore> {
    const { storeName } = this.memory.read();
    const { storage } = this.parameters;
    try {
      return await DocumentStore.open(storeName, { storage });
    } catch (error) {
      if (!(error instanceof NearfieldError && error.code === 'LOCKED')) throw error;
      // Another tab has it, and once the documents are stored nothing is written any more.
      const store = await DocumentStore.open(storeName, { storage, readOnly: true });
      if ((await store.count()) > 0) return store;
      await store.close();
      throw error;
    }
  }

  private async reopened(store: DocumentStore, ms: number): Promise<string> {
    const { distances } = await store.facts();
    const { build } = this.memory.read();
    const before = build ? `, where fetching and indexing took ${milliseconds(build.engineMs)}` : '';
    return `Reopened in ${milliseconds(ms)}${before}; ${count(distances)} distances computed.`;
  }

  private async fill(store: DocumentStore): Promise<string> {
    this.loading.hidden = false;
    setText(htmlById('docs-loading-step'), 'Fetching texts and embeddings, 2.9 MB…');
    const begin = performance.now();
    const documents = await fetchDocuments();
    const fetched = performance.now();
    setText(htmlById('docs-loading-step'), `Indexing ${count(documents.ids.length)} documents…`);
    await store.fill(documents);
    const end = performance.now();
    const rows = documents.ids.length;
    this.memory.change({ target: rows, build: { engineMs: end - begin, rows, distances: 0, how: 'built' } });
    return `Fetched in ${milliseconds(fetched - begin)}, indexed and saved in ${milliseconds(end - fetched)}; a reload opens it again.`;
  }

  private actionsAfter(error: unknown): NoticeAction[] {
    const again = { label: 'Try again', run: () => void this.start() };
    const code = error instanceof NearfieldError ? error.code : undefined;
    if (code !== 'CORRUPT' && code !== 'FOREIGN_FILE' && code !== 'NEWER_VERSION') return [again];
    const fresh = (): void => {
      this.memory.change({ storeName: `documents-${Date.now()}`, build: undefined });
      void this.start();
    };
    return [{ label: 'Start over', run: fresh }, again];
  }

  private fail(error: unknown, actions: readonly NoticeAction[]): void {
    console.error(error);
    this.notice.show(error, actions);
  }
}
