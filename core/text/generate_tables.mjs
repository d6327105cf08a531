// Writes the Unicode tables of core/text as one C++ file, each packed into bytes that compress well;
// unicode.cpp unpacks them once.
//   node generate_tables.mjs <folder of the Unicode Character Database> <output.cpp>
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, output] = process.argv.slice(2);
const kCodePoints = 0x110000;
// The order of WordBreak in unicode.h.
const wordBreaks = [
  'Other', 'CR', 'LF', 'Newline', 'Extend', 'ZWJ', 'Regional_Indicator', 'Format', 'Katakana', 'Hebrew_Letter', 'ALetter',
  'Single_Quote', 'Double_Quote', 'MidNumLet', 'MidLetter', 'MidNum', 'Numeric', 'ExtendNumLet', 'WSegSpace',
];
const kPictographic = 0x20;
const kBigram = 0x40;

const read = (file) => readFileSync(join(folder, file), 'utf8');

// The entries "0041..005A ; value ; value" of a table, as [first, last, values].
function* entries(text) {
  for (const line of text.split('\n')) {
    const [range, ...values] = line.replace(/#.*/, '').split(';').map((part) => part.trim());
    if (!range) continue;
    const [first, last = first] = range.split('..').map((hex) => parseInt(hex, 16));
    yield [first, last, values];
  }
}

// By code point: a general category, a class for canonical order, a canonical decomposition into two.
function characters() {
  const category = new Array(kCodePoints).fill('Cn');
  const order = new Uint8Array(kCodePoints);
  const pairs = [];
  let first = 0;
  for (const line of read('UnicodeData.txt').split('\n')) {
    const [hex, name, general, combining, , decomposition] = line.split(';');
    if (!hex) continue;
    const code = parseInt(hex, 16);
    if (!name.endsWith(', Last>')) first = code;
    category.fill(general, first, code + 1);
    order[code] = Number(combining);
    const parts = decomposition.split(' ').map((part) => parseInt(part, 16));
    if (parts.length === 2 && !decomposition.startsWith('<')) pairs.push([code, ...parts]);
  }
  return { category, order, pairs };
}

class Bytes {
  values = [];
  byte(value) {
    this.values.push(value);
  }
  varint(value) {
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.values.push((value % 0x80) | 0x80);
    this.values.push(value);
  }
  // Puts the number of rows before everything else.
  count(value) {
    const rest = this.values.splice(0);
    this.varint(value);
    this.values.push(...rest);
  }
  signed(value) {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }
}

// Runs of code points of one value other than zero: gap from the run before, length less one, value.
function packRuns(values) {
  const [gaps, lengths, kinds] = [new Bytes(), new Bytes(), new Bytes()];
  let end = 0;
  for (let code = 0; code < kCodePoints; ++code) {
    if (values[code] === 0) continue;
    const first = code;
    while (code + 1 < kCodePoints && values[code + 1] === values[first]) ++code;
    gaps.varint(first - end);
    lengths.varint(code - first);
    kinds.byte(values[first]);
    end = code + 1;
  }
  gaps.count(kinds.values.length);
  return [gaps, lengths, kinds];
}

// UAX #29's property, whether a pictograph, and whether a letter of a script that is written without
// spaces between words (those that UAX #29 leaves apart) or in syllables, and is found by bigrams.
function classes(category) {
  const values = new Uint8Array(kCodePoints);
  for (const [first, last, [name]] of entries(read('WordBreakProperty.txt'))) {
    const index = wordBreaks.indexOf(name);
    if (index < 0) throw new Error(`unknown Word_Break ${name}`);
    values.fill(index, first, last + 1);
  }
  const isLetter = (code) => category[code].startsWith('L');
  for (let code = 0; code < kCodePoints; ++code) {
    const katakana = values[code] === wordBreaks.indexOf('Katakana');
    if (katakana || (isLetter(code) && values[code] === 0)) values[code] |= kBigram;
  }
  for (const [first, last, [script]] of entries(read('Scripts.txt'))) {
    if (!['Han', 'Hiragana', 'Katakana', 'Hangul'].includes(script)) continue;
    for (let code = first; code <= last; ++code) if (!category[code].startsWith('M')) values[code] |= kBigram;
  }
  // Voiced marks of half width are letters by category, but belong to the letter before.
  for (const code of [0xff9e, 0xff9f]) values[code] &= ~kBigram;
  for (const [first, last, [name]] of entries(read('emoji-data.txt'))) {
    if (name !== 'Extended_Pictographic') continue;
    for (let code = first; code <= last; ++code) values[code] |= kPictographic;
  }
  return packRuns(values);
}

// NFKC_Casefold: runs of code points, one or two apart, that lie as far from what they fold to; then
// those that fold to nothing or to several. Head of a run: 4 * (length - 1) + 2 * (two apart) + several.
function folds() {
  const targets = new Map();
  for (const [first, last, [name, value]] of entries(read('DerivedNormalizationProps.txt'))) {
    if (name !== 'NFKC_CF') continue;
    const target = value === '' ? [] : value.split(' ').map((hex) => parseInt(hex, 16));
    for (let code = first; code <= last; ++code) targets.set(code, target);
  }
  const [gaps, heads, offsets, sizes, several] = [new Bytes(), new Bytes(), new Bytes(), new Bytes(), new Bytes()];
  const codes = [...targets.keys()].sort((a, b) => a - b);
  const done = new Set();
  const single = (code) => targets.get(code)?.length === 1;
  const offset = (code) => targets.get(code)[0] - code;
  let runs = 0;
  let end = 0;
  let last = 0;
  for (const code of codes) {
    if (done.has(code)) continue;
    const lengths = [1, 2].map((step) => {
      let length = 1;
      const same = (next) =>
        targets.has(next) && !done.has(next) && single(code) === single(next) &&
        (single(code) ? offset(next) === offset(code) : targets.get(code).length === 0 && targets.get(next).length === 0);
      while (same(code + step * length)) ++length;
      return length;
    });
    // Two apart only where nothing in between folds.
    let apart = lengths[1] > lengths[0] ? 2 : 1;
    if (apart === 2) for (let i = 0; i + 1 < lengths[1]; ++i) if (targets.has(code + 2 * i + 1)) apart = 1;
    const length = lengths[apart - 1];
    for (let i = 0; i < length; ++i) done.add(code + apart * i);
    ++runs;
    gaps.varint(code - end);
    heads.varint(4 * (length - 1) + 2 * (apart - 1) + (single(code) ? 0 : 1));
    if (single(code)) {
      offsets.signed(targets.get(code)[0] - last);
      last = targets.get(code)[0] + apart * (length - 1) + 1;
    } else {
      sizes.byte(targets.get(code).length);
      for (const target of targets.get(code)) {
        several.signed(target - last);
        last = target;
      }
    }
    end = code + apart * (length - 1) + 1;
  }
  gaps.count(runs);
  return [gaps, heads, offsets, sizes, several];
}

// Canonical composites: gap from the one before, how far its first part lies from that one's, second.
function compositions(pairs) {
  const excluded = new Set();
  for (const [first, last, [name]] of entries(read('DerivedNormalizationProps.txt'))) {
    if (name === 'Full_Composition_Exclusion') for (let code = first; code <= last; ++code) excluded.add(code);
  }
  const kept = pairs.filter(([code]) => !excluded.has(code));
  const [gaps, firsts, seconds] = [new Bytes(), new Bytes(), new Bytes()];
  const before = [0, 0, 0];
  for (const [code, first, second] of kept.sort((a, b) => a[0] - b[0])) {
    gaps.varint(code - before[0]);
    firsts.signed(first - before[1]);
    seconds.signed(second - before[2]);
    before.splice(0, 3, code, first, second);
  }
  gaps.count(kept.length);
  return [gaps, firsts, seconds];
}

// Columns by the names of packed_tables.h; the first begins with the number of rows.
function named(table, names, columns) {
  return Object.fromEntries(names.map((name, i) => [`k${table}${name}`, columns[i]]));
}

const [, major, minor] = read('CaseFolding.txt').match(/^# CaseFolding-(\d+)\.(\d+)\.\d+\.txt/);
const { category, order, pairs } = characters();
const columns = {
  ...named('Class', ['Gaps', 'Lengths', 'Values'], classes(category)),
  ...named('Order', ['Gaps', 'Lengths', 'Values'], packRuns(order)),
  ...named('Fold', ['Gaps', 'Heads', 'Offsets', 'Sizes', 'Several'], folds()),
  ...named('Composition', ['Gaps', 'Firsts', 'Seconds'], compositions(pairs)),
};
const lines = [
  '// Written by generate_tables.mjs from the Unicode Character Database.',
  '#include "text/packed_tables.h"',
  '',
  'namespace nearfield::packed {',
  `const uint32_t kUnicodeVersion = ${Number(major) * 100 + Number(minor)};`,
  ...Object.entries(columns).map(([name, column]) => `const uint8_t ${name}[] = {${column.values.join(',')}};`),
  '}  // namespace nearfield::packed',
  '',
];
writeFileSync(output, lines.join('\n'));
