// The demo page as a person uses it: building, searching, cancelling, reloading, by keyboard, on a
// phone. It needs build/demo and its data, the sets demo-words and demo-docs (npm run build web, bench/datasets/prepare.mjs).
import { open } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Locator, type Page, expect, test } from '@playwright/test';

const root = new URL('../../', import.meta.url);
const dataFolder = new URL('bench/datasets/cache/demo', root).pathname;
const rowBytes = 400;

interface StaticServer {
  readonly serve: (options: { mounts: Record<string, string> }) => Promise<Server>;
}

let server: Server | undefined;
let address = process.env['DEMO_URL'] ?? '';

test.beforeAll(async () => {
  if (address !== '') return; // a server that runs already
  const { serve } = (await import(new URL('scripts/lib/static-server.mjs', root).href)) as StaticServer;
  server = await serve({
    mounts: { '/': new URL('build/demo', root).pathname, '/data/': dataFolder },
  });
  address = `http://localhost:${(server.address() as AddressInfo).port}/`;
});

test.afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Opens the page on a small part of the words and waits until the store is built. */
async function build(page: Page, words = 3000, hash = ''): Promise<void> {
  await page.goto(`${address}?words=${words}${hash}`);
  await expect(page.locator('#status')).toHaveText(`${words.toLocaleString('en-US')} words ready`, {
    timeout: 60_000,
  });
}

const answers = (page: Page): Promise<string[]> => page.locator('#answers li:not([hidden]) .word').allTextContents();

async function ask(page: Page, query: string, title: string): Promise<string[]> {
  await page.fill('#query', query);
  await expect(page.locator('#answer-title')).toHaveText(title);
  await expect(page.locator('#answers')).toHaveAttribute('data-stale', 'false');
  return answers(page);
}

/** Holds back every range of the vectors but the first, until `release` is called. */
async function holdVectors(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/data/words.f32', async (route) => {
    const first = /^bytes=0-/.test(route.request().headers()['range'] ?? '');
    if (!first) await held;
    await route.continue().catch(() => undefined); // cancelled meanwhile
  });
  return release;
}

test('builds by itself, can be searched while it builds, and asks nothing of other sites', async ({ page }) => {
  const foreign: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== new URL(address).origin) foreign.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  const release = await holdVectors(page);
  await page.goto(`${address}?words=6000`);
  await expect(page.locator('#build-title')).toHaveText('Building a store of 6,000 words');
  await expect(page.locator('#answers li:not([hidden])')).toHaveCount(10); // of the first batch
  await expect(page.locator('#build-step')).toContainText('of 6,000 words');
  release();
  await expect(page.locator('#status')).toHaveText('6,000 words ready', { timeout: 60_000 });
  await expect(page.locator('#build')).toBeHidden();
  await expect(page.locator('#store-facts')).toContainText('IndexedDB');
  await expect(page.locator('#reopen-line')).toContainText('Storing and linking took');
  expect(foreign).toEqual([]);
  expect(errors).toEqual([]);
});

test('finds the neighbours of a word and follows them, back and forward', async ({ page }) => {
  await build(page);
  const near = await ask(page, 'river', 'Nearest to river');
  expect(near).toHaveLength(10);
  expect(near).not.toContain('river');
  expect(near.slice(0, 5)).toContain('lake');
  await page.locator('#answers .word', { hasText: /^lake$/ }).click();
  await expect(page.locator('#query')).toHaveValue('lake');
  await expect(page.locator('#answer-title')).toHaveText('Nearest to lake');
  expect(new URL(page.url()).hash).toBe('#lake');
  await page.goBack();
  await expect(page.locator('#answer-title')).toHaveText('Nearest to river');
  await page.goForward();
  await expect(page.locator('#answer-title')).toHaveText('Nearest to lake');
  await expect(page.locator('#time-trip')).toHaveText(/\d ms$/);
  await expect(page.locator('#time-distances')).toHaveText(/^[1-9]/);
});

test('adds and subtracts words', async ({ page }) => {
  await build(page, 6000, '#king+-+man+%2B+woman');
  await expect(page.locator('#answer-title')).toHaveText('king − man + woman ≈');
  const sum = await answers(page);
  expect(sum.slice(0, 3)).toContain('queen');
  for (const input of ['king', 'man', 'woman']) expect(sum).not.toContain(input);
  const glued = await ask(page, 'paris-france+italy', 'paris − france + italy ≈');
  expect(glued.slice(0, 3)).toContain('rome');
});

test('names unknown words', async ({ page }) => {
  await build(page);
  await page.fill('#query', 'river + qqqzzz');
  await expect(page.locator('#answer-note')).toHaveText('“qqqzzz” is not among the 3,000 words of this store.');
  await page.fill('#query', '');
  await expect(page.locator('#answer-note')).toContainText('Type a word');
});

test('cancelling leaves a store that can be searched and completed', async ({ page }) => {
  const release = await holdVectors(page);
  await page.goto(`${address}?words=6000`);
  await expect(page.locator('#answers li:not([hidden])')).toHaveCount(10);
  await page.click('#build-cancel');
  await expect(page.locator('#setup-title')).toHaveText('Stopped at 2,000 of 6,000 words');
  expect((await ask(page, 'music', 'Nearest to music')).length).toBe(10);
  release();
  await page.reload();
  await expect(page.locator('#setup-title')).toHaveText('Stopped at 2,000 of 6,000 words');
  await page.getByRole('button', { name: 'Go on to 6,000 words' }).click();
  await expect(page.locator('#status')).toHaveText('6,000 words ready', { timeout: 60_000 });
  await expect(page.locator('#setup')).toBeHidden();
});

test('a reload opens the store again without computing a distance', async ({ page }) => {
  await build(page, 6000, '#jazz');
  await expect(page.locator('#answer-title')).toHaveText('Nearest to jazz');
  const before = await answers(page);
  await page.click('#reload');
  await expect(page.locator('#reopen-title')).toHaveText(/^Reopened in .+, not rebuilt$/, { timeout: 30_000 });
  await expect(page.locator('#reopen-line')).toContainText('0 distances computed');
  await expect(page.locator('#reopen-line')).toContainText('faster than building it');
  await expect(page.locator('#reopen-bars')).toBeVisible();
  await expect(page.locator('#answer-title')).toHaveText('Nearest to jazz');
  expect(await answers(page)).toEqual(before);
});

test('measures recall and time over ef', async ({ page }) => {
  await build(page, 6000);
  await expect(page.locator('#tune-note')).toContainText('compared with exact search', { timeout: 60_000 });
  await expect(page.locator('#chart .point')).toHaveCount(8);
  const recall = Number.parseFloat((await page.locator('#tune-recall').textContent()) ?? '');
  expect(recall).toBeGreaterThan(90);
  await page.locator('#ef').focus();
  await page.keyboard.press('Home');
  await expect(page.locator('#ef-value')).toHaveText('10');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('#ef-value')).toHaveText('12');
  await expect(page.locator('#tune-recall')).toHaveText(/ %$/); // not on the ladder: measured now
});

test('works by keyboard alone', async ({ page }) => {
  await build(page, 3000, '#war');
  await page.keyboard.press('Tab');
  await expect(page.locator('#skip')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('#query')).toBeFocused();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('govern');
  await expect(page.locator('#query')).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { name: 'government', exact: true })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.locator('#query')).toHaveValue('government');
  await expect(page.locator('#query')).toHaveAttribute('aria-expanded', 'false');
  await expect(page.locator('#answer-title')).toHaveText('Nearest to government');
  // Past the examples to the first answer.
  const first = page.locator('#answers a').first();
  for (let presses = 0; presses < 15 && !(await first.evaluate((link) => link === document.activeElement)); presses += 1) {
    await page.keyboard.press('Tab');
  }
  await expect(first).toBeFocused();
  await page.keyboard.press('ArrowDown');
  const second = page.locator('#answers a').nth(1);
  await expect(second).toBeFocused();
  const word = (await second.locator('.word').textContent()) ?? '';
  await page.keyboard.press('Enter');
  await expect(page.locator('#answer-title')).toHaveText(`Nearest to ${word}`);
  await expect(page.locator('#answer-spoken')).toContainText(`Nearest to ${word}`);
});

test('fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const release = await holdVectors(page);
  const overflow = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  await page.goto(`${address}?words=6000`);
  await expect(page.locator('#build-step')).toContainText('words');
  expect(await overflow()).toBeLessThanOrEqual(0);
  release();
  await expect(page.locator('#status')).toHaveText('6,000 words ready', { timeout: 60_000 });
  expect(await overflow()).toBeLessThanOrEqual(0);
  await page.fill('#query', 'king - man + wom');
  expect(await overflow()).toBeLessThanOrEqual(0);
  await page.click('#reload');
  await expect(page.locator('#reopen-title')).toHaveText(/^Reopened/, { timeout: 30_000 });
  expect(await overflow()).toBeLessThanOrEqual(0);
});

test('deletes the store only when that is confirmed, and offers to build again', async ({ page }) => {
  await build(page);
  await page.click('#delete');
  await expect(page.locator('#confirm')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('#confirm')).toBeHidden();
  await expect(page.locator('#status')).toHaveText('3,000 words ready');
  await page.click('#delete');
  await page.locator('#confirm').getByRole('button', { name: 'Delete' }).click();
  const again = page.getByRole('button', { name: 'Build it here: 3,000 words' });
  await expect(again).toBeVisible();
  await page.reload(); // what was deleted stays away
  await expect(page.locator('#status')).toHaveText('No store yet');
  await again.click();
  await expect(page.locator('#status')).toHaveText('3,000 words ready', { timeout: 60_000 });
});

test('a second tab says that the first one holds the store, and can look', async ({ page, context }) => {
  await build(page);
  const second = await context.newPage();
  await second.goto(`${address}?words=3000#music`);
  await expect(second.locator('#notice-title')).toHaveText('The store is open in another tab');
  await second.getByRole('button', { name: 'Look without changing' }).click();
  await expect(second.locator('#status')).toHaveText('3,000 words, read-only');
  await expect(second.locator('#answer-title')).toHaveText('Nearest to music');
  await expect(second.locator('#delete')).toBeHidden();
});

test('a server without byte ranges serves as well', async ({ page }) => {
  const file = await open(`${dataFolder}/words.f32`);
  const body = Buffer.alloc(3000 * rowBytes);
  await file.read(body, 0, body.length, 0);
  await file.close();
  await page.route('**/data/words.f32', (route) => route.fulfill({ status: 200, body, contentType: 'application/octet-stream' }));
  await build(page);
  expect(await ask(page, 'river', 'Nearest to river')).toContain('lake');
});

test('says what to do when the vectors are missing', async ({ page }) => {
  await page.route('**/data/words.f32', (route) => route.fulfill({ status: 404, body: 'not found' }));
  await page.goto(`${address}?words=3000`);
  await expect(page.locator('#notice-title')).toHaveText('The word vectors are not on this server');
  await expect(page.locator('#notice-text')).toContainText('npm start');
  await expect(page.locator('#status')).toHaveText('No store yet');
  await page.unroute('**/data/words.f32');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('#status')).toHaveText('3,000 words ready', { timeout: 60_000 });
});

test.describe('documents', () => {
  const results = (page: Page, ranking: string): Locator => page.locator(`.ranking-${ranking} li`);
  const ids = (page: Page, ranking: string): Promise<(string | null)[]> =>
    results(page, ranking).evaluateAll((items) => items.map((item) => item.getAttribute('data-id')));
  const overflow = (page: Page): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

  /** Opens the tab with a question, such as "?q=chart", and waits for the answer. */
  async function visit(page: Page, question = ''): Promise<void> {
    await page.goto(`${address}?words=3000#/documents${question}`);
    await expect(page.locator('#docs-status')).toHaveText('778 documents ready', { timeout: 30_000 });
    await expect(page.locator('#docs-matches')).toContainText('of 778 documents match.');
  }

  test('are ranked by text, by vector and by both, and nothing of the words is loaded for it', async ({ page }) => {
    const asked: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    await visit(page, '?q=deploy+ABAP');
    for (const ranking of ['text', 'vector', 'hybrid']) await expect(results(page, ranking)).toHaveCount(10);
    const [best] = await ids(page, 'text');
    expect((await ids(page, 'vector'))[0]).toBe(best); // its own embedding is the vector
    expect(new Set([await ids(page, 'text'), await ids(page, 'vector'), await ids(page, 'hybrid')].map(String)).size).toBe(3);
    await expect(page.locator('#docs-like')).toContainText('the best match of the words');

    const facts = (ranking: string): Locator => page.locator(`.ranking-${ranking} .timing`);
    await expect(facts('text')).toContainText(/Plan\s*text.*Found\s*\d+ of 778 have a word.*Time\s*[\d.]+ ms/);
    await expect(facts('vector')).toContainText(/Plan\s*scan.*Found\s*778 of 778 match/);
    await expect(facts('hybrid')).toContainText(/Plan\s*scan/);
    const marked = await results(page, 'text').first().locator('mark').allTextContents();
    expect(marked.length).toBeGreaterThan(0);
    for (const word of marked) expect(word).toMatch(/^(deploy|abap)$/i);
    await expect(results(page, 'vector').locator('mark')).toHaveCount(0);

    expect(errors).toEqual([]);
    expect(asked.filter((url) => url.includes('/data/words'))).toEqual([]);
    expect(asked.filter((url) => url.startsWith('http') && !url.startsWith(address))).toEqual([]);
  });

  test('are shown as text, whatever they contain', async ({ page }) => {
    await visit(page, '?q=Mustermann');
    await expect(results(page, 'text').filter({ hasText: '<code><pre>' }).first()).toBeVisible();
    const tags = await page.locator('#rankings .snippet *').evaluateAll((all) => all.map(({ tagName }) => tagName));
    expect(new Set(tags)).toEqual(new Set(['MARK']));
  });

  test('are narrowed by facets, by length and by JSON, and back', async ({ page }) => {
    await visit(page, '?q=deploy');
    const chip = page.locator('#docs-categories button', { hasText: 'Fiori Samples' });
    await expect(chip).toHaveText('Fiori Samples 38');
    await chip.click();
    await expect(page.locator('#docs-matches')).toHaveText('38 of 778 documents match.');
    await expect(chip).toHaveAttribute('aria-pressed', 'true');
    await expect(chip).toBeFocused();
    for (const ranking of ['text', 'vector', 'hybrid']) {
      await expect(results(page, ranking)).toHaveCount(10);
      await expect(results(page, ranking).filter({ hasText: 'Fiori Samples ·' })).toHaveCount(10);
    }
    await expect(page.locator('.ranking-vector .timing')).toContainText('38 of 778 match');
    const tag = page.locator('#docs-tags button').first();
    const narrower = Number.parseInt((await tag.locator('.amount').textContent()) ?? '', 10);
    expect(narrower).toBeLessThan(38);
    await tag.click();
    await expect(page.locator('#docs-matches')).toHaveText(`${narrower} of 778 documents match.`);
    await page.fill('#docs-to', '300');
    await page.fill('#docs-where', '{ "words": { "$gt": 100 } }');
    await expect(page.locator('#docs-where-all')).toContainText('{"words":{"$lte":300}},{"words":{"$gt":100}}');
    await page.click('#docs-clear');
    await expect(page.locator('#docs-matches')).toHaveText('778 of 778 documents match.');
    await expect(page.locator('#docs-to')).toHaveValue('');
    await page.goBack();
    await expect(page.locator('#docs-to')).toHaveValue('300');
    await expect(chip).toHaveAttribute('aria-pressed', 'true');
  });

  test('say what is wrong with a filter, and what was found stays', async ({ page }) => {
    await visit(page, '?q=chart');
    const before = await ids(page, 'hybrid');
    await page.fill('#docs-where', '{ "words": { "$gt": "x" } }');
    const sentence = page.locator('#docs-where-error');
    await expect(sentence).toHaveText('the filter has a string at words.$gt; expected a number');
    await expect(page.locator('#docs-where')).toHaveAttribute('aria-invalid', 'true');
    await expect(page.locator('#rankings')).toHaveAttribute('data-stale', 'true');
    expect(await ids(page, 'hybrid')).toEqual(before);
    await page.fill('#docs-where', '{ "words": ');
    await expect(sentence).toContainText('not JSON');
    await page.fill('#docs-where', '{ "words": { "$gt": 99999 } }');
    await expect(sentence).toHaveText('');
    await expect(page.locator('.ranking-vector .answer-note')).toHaveText('No document matches the filters.');
    await visit(page, '?q=chart&where=7'); // the address may have brought it
    await page.reload();
    await expect(sentence).toContainText('where is 7');
  });

  test('say when no word is found', async ({ page }) => {
    await visit(page, '?q=qqqzzz');
    await expect(page.locator('.ranking-text .answer-note')).toHaveText('No document has any of these words.');
    await expect(page.locator('.ranking-text .timing')).toContainText('0 of 778');
    await page.fill('#docs-query', '');
    await expect(page.locator('.ranking-text .answer-note')).toContainText('the longest first');
    await expect(results(page, 'text')).toHaveCount(10);
    await expect(page.locator('.ranking-hybrid .answer-note')).toContainText('Type words');
  });

  test('lead on: a title gives the vector, more results follow', async ({ page }) => {
    await visit(page, '?q=chart');
    const third = results(page, 'vector').nth(2).locator('a');
    const title = (await third.textContent()) ?? '';
    await third.click();
    await expect(page.locator('#docs-like')).toHaveText(`documents like ${title}`);
    await expect(results(page, 'vector').first().locator('a')).toHaveText(title);
    await page.goBack();
    await expect(page.locator('#docs-like')).toContainText('the best match of the words');
    await page.goForward();
    await page.click('#docs-unlike');
    await expect(page.locator('#docs-like')).toContainText('the best match of the words');

    for (const ranking of ['text', 'vector', 'hybrid']) {
      await page.locator(`.ranking-${ranking} .more`).click();
      await expect(results(page, ranking)).toHaveCount(20);
      await expect(results(page, ranking).nth(10).locator('a')).toBeFocused();
      expect(new Set(await ids(page, ranking)).size).toBe(20);
    }
  });

  test('show the same document in every column', async ({ page }) => {
    await visit(page, '?q=chart');
    const first = results(page, 'text').first();
    const id = (await first.getAttribute('data-id')) ?? '';
    await expect(first.locator('.places')).toContainText('vector 1');
    await first.locator('.snippet').hover();
    const linked = page.locator('#rankings .linked');
    await expect(linked).not.toHaveCount(1);
    expect(new Set(await linked.evaluateAll((all) => all.map((item) => item.getAttribute('data-id'))))).toEqual(new Set([id]));
    await page.mouse.move(0, 0);
    await expect(linked).toHaveCount(0);
    await results(page, 'vector').first().locator('a').focus();
    await expect(linked).not.toHaveCount(0);
  });

  test('are there after a reload, without a download and a distance', async ({ page }) => {
    await visit(page, '?q=deploy&category=Sapui5');
    await expect(page.locator('#docs-store')).toContainText('indexed and saved');
    const before = await ids(page, 'hybrid');
    await page.route('**/data/docs.*', (route) => route.abort());
    await page.reload();
    await expect(page.locator('#docs-status')).toHaveText('778 documents ready', { timeout: 30_000 });
    await expect(page.locator('#docs-store')).toContainText(/^Reopened in .+; 0 distances computed/);
    await expect(results(page, 'hybrid')).toHaveCount(10);
    expect(await ids(page, 'hybrid')).toEqual(before);
  });

  test('are open in two tabs of the browser', async ({ page, context }) => {
    await visit(page);
    const second = await context.newPage();
    await visit(second, '?q=chart');
    await expect(results(second, 'hybrid')).toHaveCount(10);
    await expect(second.locator('#docs-notice')).toBeHidden();
  });

  test('work by keyboard alone', async ({ page }) => {
    await build(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect(page.getByRole('tab', { name: 'Words' })).toBeFocused();
    await page.keyboard.press('ArrowRight');
    const tab = page.getByRole('tab', { name: 'Documents' });
    await expect(tab).toBeFocused();
    await expect(tab).toHaveAttribute('aria-selected', 'true');
    await expect(page.locator('#words')).toBeHidden();
    await expect(page.locator('#docs-status')).toHaveText('778 documents ready', { timeout: 30_000 });
    await page.keyboard.press('Shift+Tab');
    await expect(page.locator('#skip')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.locator('#docs-query')).toBeFocused();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('chart');
    await expect(results(page, 'text').first().locator('mark').first()).toHaveText('Chart');
    await page.keyboard.press('Tab');
    const example = page.locator('#docs-examples a').first();
    await expect(example).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.locator('#docs-query')).toHaveValue('navigate to another app');
    await expect(example).toBeFocused();
    await page.locator('#docs-categories button').first().focus();
    await page.keyboard.press('Space');
    await expect(page.locator('#docs-matches')).toHaveText('386 of 778 documents match.');
    await page.keyboard.press('Enter');
    await expect(page.locator('#docs-matches')).toHaveText('778 of 778 documents match.');
    await results(page, 'text').first().locator('a').focus();
    await page.keyboard.press('ArrowDown');
    const second = results(page, 'text').nth(1).locator('a');
    await expect(second).toBeFocused();
    const title = (await second.textContent()) ?? '';
    await page.keyboard.press('Enter');
    await expect(page.locator('#docs-like')).toHaveText(`documents like ${title}`);
    await expect(second).toBeFocused();
    await expect(page.locator('#docs-spoken')).toContainText(`vector: first ${title}.`);
    await page.getByRole('tab', { name: 'Documents' }).focus();
    await page.keyboard.press('Home');
    await expect(page.locator('#status')).toBeVisible();
    await expect(page.locator('#answer-title')).toHaveText('Nearest to music');
  });

  test('fit a phone, one ranking at a time', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visit(page, '?q=%22value+help%22');
    await expect(page.locator('.ranking:visible')).toHaveCount(1);
    await expect(page.locator('.ranking-hybrid')).toBeVisible();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.getByRole('radio', { name: 'Hybrid' }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect(page.locator('.ranking-vector')).toBeVisible();
    await expect(page.locator('.ranking-hybrid')).toBeHidden();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.locator('#docs-filters summary').click();
    await page.locator('#docs-tags button').first().click();
    await page.fill('#docs-where', `{ "nothing": "${'x'.repeat(80)}" }`);
    await expect(page.locator('.ranking-vector .answer-note')).toBeVisible();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  test('that are missing are told, with what to do', async ({ page }) => {
    await page.route('**/data/docs.f32', (route) => route.fulfill({ status: 404, body: 'not found' }));
    await page.goto(`${address}#/documents`);
    await expect(page.locator('#docs-notice-title')).toHaveText('The documents are not on this server');
    await expect(page.locator('#docs-notice-text')).toContainText('demo-docs');
    await expect(page.locator('#docs-status')).toHaveText('Not running');
    await page.unroute('**/data/docs.f32');
    await page.locator('#docs-notice').getByRole('button', { name: 'Try again' }).click();
    await expect(page.locator('#docs-status')).toHaveText('778 documents ready', { timeout: 30_000 });
    await expect(results(page, 'hybrid')).toHaveCount(10);
  });
});
