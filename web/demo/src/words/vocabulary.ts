// The list of words, in order of frequency: completions by prefix, and which words exist.

import { DataError, fetchData } from '../data/fetch.ts';

export const wordsUrl = 'data/words.txt';

export class Vocabulary {
  readonly words: string[] = [];
  private readonly ranks = new Map<string, number>();
  // By first character, so that a completion looks through a small part of the words only.
  private readonly byFirst = new Map<string, number[]>();

  rank(word: string): number | undefined {
    return this.ranks.get(word);
  }

  /** Loads until `wanted` words are known (or the file ends); words known already are kept. */
  async ensure(wanted: number, signal?: AbortSignal): Promise<void> {
    if (this.words.length >= wanted) return;
    const response = await fetchData(wordsUrl, signal ? { signal } : {});
    if (!response.body) throw new DataError('unreadable', wordsUrl, 'the answer has no body');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let skip = this.words.length;
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) {
        if (line === '' && done) continue;
        if (skip > 0) skip -= 1;
        else this.add(line);
        if (this.words.length >= wanted) {
          // The rest of the file is not needed; a failed cancel changes nothing.
          await reader.cancel().catch(() => undefined);
          return;
        }
      }
      if (done) return;
    }
  }

  /** The most frequent words that start with `prefix`, among the first `limit` words. */
  complete(prefix: string, most: number, limit: number): string[] {
    const found: string[] = [];
    if (prefix === '') return found;
    for (const rank of this.byFirst.get(prefix.charAt(0)) ?? []) {
      if (rank >= limit || found.length >= most) break;
      const word = this.words[rank];
      if (word !== undefined && word !== prefix && word.startsWith(prefix)) found.push(word);
    }
    return found;
  }

  private add(word: string): void {
    const rank = this.words.length;
    this.words.push(word);
    this.ranks.set(word, rank);
    const first = word.charAt(0);
    const list = this.byFirst.get(first);
    if (list) list.push(rank);
    else this.byFirst.set(first, [rank]);
  }
}
