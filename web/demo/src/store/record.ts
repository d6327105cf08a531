// What the page remembers between visits beside a store itself: the store's name, how many rows
// were wanted, and what building them took. Lost without harm.

export interface BuildRecord {
  readonly engineMs: number;
  readonly rows: number;
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

export class PageMemory {
  private readonly fresh: PageRecord;

  constructor(
    private readonly key: string,
    storeName: string,
  ) {
    this.fresh = { storeName, target: 0, build: undefined, manual: false };
  }

  read(): PageRecord {
    try {
      const parsed: unknown = JSON.parse(localStorage.getItem(this.key) ?? '');
      return isRecord(parsed) ? parsed : this.fresh;
    } catch {
      return this.fresh; // nothing stored yet, or storage is switched off
    }
  }

  change(change: Partial<PageRecord>): void {
    try {
      localStorage.setItem(this.key, JSON.stringify({ ...this.read(), ...change }));
    } catch {
      // Without storage only the comparison after a reload is lost.
    }
  }
}

function isRecord(value: unknown): value is PageRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Partial<Record<keyof PageRecord, unknown>>;
  return typeof record.storeName === 'string' && typeof record.target === 'number';
}
