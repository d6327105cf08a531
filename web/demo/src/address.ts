// What is asked lives in the address after #, so that back, forward and bookmarks work: a query of
// words as it is, a question about documents as #/documents?q=…

/** No query of words begins like this, since hashOf() escapes the stroke. */
export const documentsPath = '#/documents';

export const hashOf = (query: string): string => `#${encodeURIComponent(query).replaceAll('%20', '+')}`;

/** The query of words in an address, or undefined when there is none. */
export function queryOf(hash: string): string | undefined {
  if (hash.startsWith(documentsPath)) return undefined;
  const text = hash.replace(/^#/, '').replaceAll('+', ' ');
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // an address cut within a character
  }
}
