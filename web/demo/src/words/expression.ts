// What a person typed: one word, or a sum such as "king - man + woman".

export interface Term {
  readonly word: string;
  readonly sign: 1 | -1;
}

export interface Expression {
  readonly terms: readonly Term[];
  readonly unknown: readonly string[];
}

/** Every dash that a keyboard or a copied text may hold becomes one minus. */
export const normalize = (text: string): string =>
  text.toLowerCase().replace(/[−–—]/g, '-').replace(/\s+/g, ' ').trim();

/**
 * Reads an expression. Words may hold + and - themselves ("well-known"), so a piece of text is one
 * word when it is known as a whole and is split at its signs only otherwise. Words side by side
 * are added: "new york" is "new + york".
 */
export function parse(text: string, isKnown: (word: string) => boolean): Expression {
  const whole = normalize(text);
  if (whole !== '' && isKnown(whole)) return { terms: [{ word: whole, sign: 1 }], unknown: [] };
  const terms: Term[] = [];
  const unknown: string[] = [];
  let sign: 1 | -1 = 1;
  const take = (token: string): void => {
    if (token === '') return;
    if (token === '+' || token === '-') {
      sign = token === '+' ? 1 : -1;
      return;
    }
    if (isKnown(token)) terms.push({ word: token, sign });
    else unknown.push(token);
    sign = 1;
  };
  for (const token of whole.split(' ')) {
    if (token.length > 1 && !isKnown(token) && splits(token, isKnown)) {
      for (const part of token.split(/([+-])/)) take(part);
    } else {
      take(token);
    }
  }
  return { terms, unknown };
}

/** "king-man" splits because both parts are words; "jack-o-lante" stays whole and is unknown. */
function splits(token: string, isKnown: (word: string) => boolean): boolean {
  const parts = token.split(/[+-]/).filter((part) => part !== '');
  return parts.length > 0 && parts.length < token.length && /[+-]/.test(token) && parts.every(isKnown);
}

export function describe(terms: readonly Term[]): string {
  return terms
    .map(({ word, sign }, index) => {
      if (index === 0) return sign === 1 ? word : `−${word}`;
      return sign === 1 ? ` + ${word}` : ` − ${word}`;
    })
    .join('');
}

/** The word that is being typed at the end of the text, and what stands before it. */
export function lastToken(text: string): { before: string; token: string } {
  const match = /^(.*[\s])?([^\s]*)$/s.exec(text);
  const token = match?.[2] ?? '';
  // A sign glued to the word ("-man") belongs to what stands before it.
  const glued = /^[+\-−–—]/.test(token) && token.length > 1 ? 1 : 0;
  return {
    before: (match?.[1] ?? '') + token.slice(0, glued),
    token: token.slice(glued).toLowerCase(),
  };
}

/** The sum of the terms' directions: every word counts the same, whatever its vector's length. */
export function combine(vectors: readonly Float32Array[], terms: readonly Term[]): Float32Array {
  const [first] = vectors;
  const sum = new Float32Array(first?.length ?? 0);
  vectors.forEach((vector, index) => {
    const sign = terms[index]?.sign ?? 1;
    const length = Math.hypot(...vector) || 1;
    for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (sign * (vector[i] ?? 0)) / length;
  });
  return sum;
}
