// What the address asks of the page: ?words=3000 or ?words=all, ?storage=memory, ?start=manual.

export const defaultWords = 50_000;
export const allWords = 341_479;

export interface Parameters {
  readonly words: number;
  readonly storage: 'indexeddb' | 'memory';
  /** Build without being asked when there is no store yet. */
  readonly autoStart: boolean;
}

export function readParameters(search: string): Parameters {
  const query = new URLSearchParams(search);
  const words = query.get('words');
  const number = words === 'all' ? allWords : Number(words ?? defaultWords);
  const usable = Number.isInteger(number) && number > 0;
  return {
    words: usable ? Math.min(number, allWords) : defaultWords,
    storage: query.get('storage') === 'memory' ? 'memory' : 'indexeddb',
    autoStart: query.get('start') !== 'manual' && !savesData(),
  };
}

/** Whether the person asked the browser to save data: then 20 MB are not fetched unasked. */
function savesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return connection?.saveData ?? false;
}
