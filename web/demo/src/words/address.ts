// The query lives in the address after #, so that back, forward and bookmarks work.

export const hashOf = (query: string): string => `#${encodeURIComponent(query).replaceAll('%20', '+')}`;

/** The query of an address, or undefined when there is none. */
export function queryOf(hash: string): string | undefined {
  const text = hash.replace(/^#/, '').replaceAll('+', ' ');
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // an address cut within a character
  }
}
