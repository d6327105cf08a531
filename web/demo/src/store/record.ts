// What the page remembers between visits beside the store itself: the store's name, how many words
// were wanted, and what building them took. Lost without harm.

export interface BuildRecord {
  readonly engineMs: number;
  readonly words: number;
  readonly distances: number;
  /** `packed`: fetched as a ready store and not built here. */
  readonly how: 'built' | 'packed';
}

export interface PageRecord {
  readonly storeName: string;
  readonly target: number;
  readonly build: BuildRecord | undefined;
  /** The person deleted the store: nothing is built again without being asked. */
  readonly manual: boolean;
}

const key = 'nearfield-word-explorer';
const fresh: PageRecord = { storeName: 'words', target: 0, build: undefined, manual: false };

export function readRecord(): PageRecord {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(key) ?? '');
    return isRecord(parsed) ? parsed : fresh;
  } catch {
    return fresh; // nothing stored yet, or storage is switched off
  }
}

export function changeRecord(change: Partial<PageRecord>): PageRecord {
  const record = { ...readRecord(), ...change };
  try {
    localStorage.setItem(key, JSON.stringify(record));
  } catch {
    // Without storage only the comparison after a reload is lost.
  }
  return record;
}

function isRecord(value: unknown): value is PageRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Partial<Record<keyof PageRecord, unknown>>;
  return typeof record.storeName === 'string' && typeof record.target === 'number';
}
