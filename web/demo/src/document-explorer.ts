// Answers what is asked of the documents: ranks them by text, by vector and by both, with the same
// filter, and shows the three side by side.

import { type Filter, type FacetCount, NearfieldError, type SearchQuery } from 'nearfield';
import { documentsPath } from './address.ts';
import {
  type Question,
  filterOf,
  fuseOf,
  fuses,
  hashOfQuestion,
  questionOf,
} from './documents/question.ts';
import { byId, htmlById, make, setText } from './dom.ts';
import { count } from './format.ts';
import { latestOnly } from './latest.ts';
import type { Answered, DocumentStore } from './store/document-store.ts';
import { Filters } from './views/filters.ts';
import { Ranking, pageRows } from './views/ranking.ts';
import { Spoken } from './views/spoken.ts';

const examples = ['navigate to another app', '"value help" dialog*', 'deploy ABAP', 'i18n translat*', 'chart colour'];
const tagsShown = 14;

/** A filter that the person wrote and that means nothing. */
class FilterError extends Error {}

/** A ranking's query, and how many records its pages can show. */
interface Ranked {
  readonly query: SearchQuery;
  readonly answer: Answered;
  readonly total: number;
}

export class DocumentExplorer {
  private readonly input = byId('docs-query', HTMLInputElement);
  private readonly fuse = byId('docs-fuse', HTMLSelectElement);
  private readonly unlike = byId('docs-unlike', HTMLButtonElement);
  private readonly panels = htmlById('rankings');
  private readonly spoken = new Spoken('docs-spoken');
  private readonly examples = examples.map((text) => make('a', {}, text));
  private readonly filters = new Filters((change, typing) => {
    this.change(change, typing);
  });
  private readonly rankings = {
    text: this.ranking('text', 'Text', 'BM25'),
    vector: this.ranking('vector', 'Vector', 'cosine'),
    hybrid: this.ranking('hybrid', 'Hybrid', 'text and vector'),
  };
  private readonly ranked = new Map<Ranking, Ranked>();
  private store: DocumentStore | undefined;
  private size = 0;
  private categories: readonly FacetCount[] = [];
  private question = questionOf(location.hash);
  private typing = false;
  private readonly ask = latestOnly(
    () => this.answer(),
    (error) => {
      this.onError(error);
    },
  );

  constructor(private readonly onError: (error: unknown) => void) {
    this.panels.append(...this.all.map(({ element }) => element));
    htmlById('docs-examples').append(...this.examples.map((link) => make('li', {}, link)));
    byId('docs-search', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      this.typing = false;
    });
    this.input.addEventListener('input', () => {
      this.change({ text: this.input.value }, true);
    });
    this.fuse.addEventListener('change', () => {
      this.change({ fuse: fuses.find((name) => name === this.fuse.value) ?? 'rrf' }, false);
    });
    this.unlike.addEventListener('click', () => {
      this.change({ like: undefined }, false);
      this.input.focus();
    });
    htmlById('docs-shown').addEventListener('change', ({ target }) => {
      if (target instanceof HTMLInputElement) this.panels.dataset['shown'] = target.value;
    });
    window.addEventListener('hashchange', () => {
      if (!location.hash.startsWith(documentsPath)) return;
      this.typing = false;
      this.question = questionOf(location.hash);
      this.refresh();
    });
    for (const event of ['pointerover', 'focusin']) {
      this.panels.addEventListener(event, ({ target }) => {
        this.link(target);
      });
    }
    this.panels.addEventListener('pointerleave', () => {
      this.link(document.activeElement);
    });
    this.write();
  }

  /** The store to search; undefined while there is none. */
  async attach(store: DocumentStore | undefined): Promise<void> {
    this.store = store;
    this.input.disabled = store === undefined;
    if (!store) return;
    this.size = await store.count();
    this.categories = await store.facets('category', undefined, 100);
    this.refresh();
  }

  focus(): void {
    this.input.focus();
  }

  private get all(): Ranking[] {
    return Object.values(this.rankings);
  }

  private ranking(name: string, title: string, score: string): Ranking {
    const ranking: Ranking = new Ranking(name, title, score, {
      onMore: () => {
        void this.more(ranking).catch(this.onError);
      },
      likeOf: (id) => hashOfQuestion({ ...this.question, like: id }),
    });
    return ranking;
  }

  private change(change: Partial<Question>, typing: boolean): void {
    this.question = { ...this.question, ...change };
    const hash = hashOfQuestion(this.question);
    if (hash !== location.hash) {
      // The first key begins an entry of the history; further keys change that entry.
      if (typing && this.typing) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
    }
    this.typing = typing;
    this.refresh();
  }

  refresh(): void {
    this.write();
    this.ask();
  }

  /** The question in the form, as far as it is not being typed there. */
  private write(): void {
    const { question } = this;
    if (this.input !== document.activeElement || !this.typing) this.input.value = question.text;
    this.fuse.value = question.fuse;
    this.filters.set(question);
    for (const link of this.examples) link.href = hashOfQuestion({ ...question, text: link.text, like: undefined });
  }

  private async answer(): Promise<void> {
    const { store, question } = this;
    if (!store) return;
    let written: Filter | undefined;
    try {
      written = await readFilter(store, question.where);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.filters.reject(error.message);
      // What was found before stays in sight, paler; at the beginning there is nothing yet.
      if (this.ranked.size > 0) {
        this.panels.dataset['stale'] = 'true';
        return;
      }
      for (const ranking of this.all) ranking.explain('Correct the filter to see results.');
      await this.showFacets(store, question, undefined);
      return;
    }
    this.filters.reject(undefined);
    const where = filterOf(question, written);
    const matches = await store.count(where);
    const filtered = where ? { where } : {};
    const text = question.text.trim();
    const rank = async (query: SearchQuery, totalOf: (answer: Answered) => number | undefined): Promise<Ranked> => {
      const whole = { ...filtered, ...query, k: pageRows };
      const answer = await store.explain(whole);
      return { query: whole, answer, total: totalOf(answer) ?? matches };
    };

    // One after the other, so that each time is its own.
    const byText = text === ''
      ? await rank({ orderBy: { field: 'words', order: 'desc' } }, () => matches)
      : await rank({ text }, ({ textMatches }) => textMatches);
    const best = text === '' ? undefined : byText.answer.hits[0]?.id;
    const likeId = question.like ?? (best === undefined ? undefined : String(best));
    const like = likeId === undefined ? undefined : await store.get(likeId);
    const byVector = like && (await rank({ vector: like.vector }, () => matches));
    const byBoth = like && text !== ''
      ? await rank({ vector: like.vector, text, fuse: fuseOf(question.fuse) }, ({ textMatches }) =>
          question.fuse === 'rerank' ? textMatches : matches,
        )
      : undefined;
    if (question !== this.question || store !== this.store) return; // the newer one is answered next

    this.panels.dataset['stale'] = 'false';
    this.showLike(question, like?.title);
    this.showFilter(where, matches);
    const none = matches === 0 ? 'No document matches the filters.' : undefined;
    const noText = `No document ${where ? 'that matches the filters ' : ''}has any of these words.`;
    const listed = text === '' ? 'No words to rank by: the longest first.' : '';
    const unknown = question.like === undefined ? undefined : 'There is no such document to be like.';
    const noVector = unknown ?? (text === '' ? 'Choose a document by its title, or type words.' : noText);
    this.present(this.rankings.text, byText, none ?? noText, listed);
    this.present(this.rankings.vector, byVector, none ?? noVector);
    this.present(this.rankings.hybrid, byBoth, none ?? (text === '' ? 'Type words: this joins them with the vector.' : noVector));
    this.refer();
    this.link(document.activeElement);
    this.spoken.say(this.all.map((ranking) => this.inWords(ranking)).join(' '));
    await this.showFacets(store, question, written);
  }

  /** Results with a note, or why there are none. */
  private present(ranking: Ranking, ranked: Ranked | undefined, otherwise: string, note = ''): void {
    if (!ranked) {
      this.ranked.delete(ranking);
      ranking.explain(otherwise);
      return;
    }
    this.ranked.set(ranking, ranked);
    const { answer, total } = ranked;
    ranking.show(answer, this.size, total, answer.hits.length === 0 ? otherwise : note);
  }

  /** Categories widen each other, so each is counted as if none were chosen; tags narrow. */
  private async showFacets(store: DocumentStore, question: Question, written: Filter | undefined): Promise<void> {
    const ofCategory = await store.facets('category', filterOf({ ...question, categories: [] }, written), 100);
    const ofTag = await store.facets('tags', filterOf(question, written), tagsShown);
    if (question !== this.question) return;
    const counts = new Map(ofCategory.map(({ value, count: amount }) => [value, amount]));
    this.filters.show('categories', this.categories.map(({ value }) => ({ value, count: counts.get(value) ?? 0 })));
    this.filters.show('tags', ofTag);
  }

  private async more(ranking: Ranking): Promise<void> {
    const ranked = this.ranked.get(ranking);
    if (!this.store || !ranked) return;
    const { hits } = await this.store.explain({ ...ranked.query, offset: ranking.shown });
    if (this.ranked.get(ranking) !== ranked) return; // answered anew meanwhile
    ranking.append(hits);
    this.refer();
  }

  private refer(): void {
    const places = this.all.map(({ name, ids }) => ({ name, rankOf: new Map(ids.map((id, index) => [id, index + 1])) }));
    for (const ranking of this.all) {
      ranking.refer((id) =>
        places
          .filter(({ name, rankOf }) => name !== ranking.name && rankOf.has(id))
          .map(({ name, rankOf }) => `· ${name} ${rankOf.get(id) ?? ''}`)
          .join(' '),
      );
    }
  }

  /** Marks the document under the pointer or the focus in every column. */
  private link(target: EventTarget | null): void {
    const item = target instanceof Element ? target.closest<HTMLElement>('#rankings [data-id]') : null;
    for (const other of this.panels.querySelectorAll<HTMLElement>('[data-id]')) {
      other.classList.toggle('linked', item !== null && other.dataset['id'] === item.dataset['id']);
    }
  }

  private showLike({ like, text }: Question, title: string | undefined): void {
    const line = htmlById('docs-like');
    this.unlike.hidden = like === undefined;
    setText(this.unlike, text.trim() === '' ? 'Let go of it' : 'Take the best match of the words');
    if (title === undefined) setText(line, like === undefined ? 'none yet' : `no document is called “${like}”`);
    else {
      const how = like === undefined ? ', the best match of the words' : '';
      line.replaceChildren('documents like ', make('strong', {}, title), how);
    }
  }

  private showFilter(where: Filter | undefined, matches: number): void {
    setText(htmlById('docs-matches'), `${count(matches)} of ${count(this.size)} documents match.`);
    const code = htmlById('docs-where-all');
    setText(code, where ? `where: ${JSON.stringify(where)}` : '');
    code.hidden = where === undefined;
  }

  private inWords(ranking: Ranking): string {
    const first = this.ranked.get(ranking)?.answer.hits[0];
    return `${ranking.name}: ${first ? `first ${first.metadata?.title ?? String(first.id)}` : 'nothing'}.`;
  }
}

/** What the person wrote, checked by the engine by itself: its sentence then speaks of nothing else. */
async function readFilter(store: DocumentStore, json: string): Promise<Filter | undefined> {
  if (json.trim() === '') return undefined;
  let filter: Filter;
  try {
    filter = JSON.parse(json) as Filter;
  } catch (error) {
    throw new FilterError(`The filter is not JSON yet: ${error instanceof Error ? error.message : String(error)}.`);
  }
  try {
    await store.count(filter);
  } catch (error) {
    if (error instanceof NearfieldError && error.code === 'INVALID_ARGUMENT') throw new FilterError(error.message);
    throw error;
  }
  return filter;
}
