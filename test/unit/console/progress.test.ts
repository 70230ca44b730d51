import assert from 'node:assert/strict';
import { it } from 'node:test';
import { h } from 'preact';
import type { Purge } from '../../../console/api/client.js';
import { latestPurges } from '../../../console/history/history-list.js';
import { failureText, keepsIds, progressOf } from '../../../console/purge/progress.js';
import { Listing, pageOf } from '../../../console/parts/listing.js';
import { nameOf, openTab } from './open-tab.js';

const RUNNING = { matched: 100, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 };
const progress = (changed: Partial<Purge>) =>
  progressOf({ ...RUNNING, ...changed, state: changed.state ?? 'running' });

it('items whose result is known are settled, including those that stay unknown', () => {
  const counts = { deleted: 1, alreadyGone: 20, failed: 300, unknown: 4000 };
  assert.equal(progress(counts).settled, 4321);
  for (const [name, value] of Object.entries(counts))
    assert.equal(progress({ [name]: value }).settled, value);
  assert.equal(progress({ arrived: 7 }).settled, 0);
});

it('the total of a purge is the largest of matched, expected and done items', () => {
  assert.equal(progress({ matched: 5, expected: 7 }).all, 7);
  assert.equal(progress({ matched: 9, expected: 7 }).all, 9);
  assert.equal(progress({ matched: 5, deleted: 6, failed: 2 }).all, 8);
  assert.equal(progress({ matched: 0 }).all, 0);
});

it('the total of a purge is known once it is expected or the purge is over', () => {
  for (const state of ['queued', 'running', 'cancelling'] as const) {
    assert.ok(!progress({ state }).isKnown);
    assert.ok(progress({ state, expected: 0 }).isKnown);
  }
  for (const state of ['succeeded', 'cancelled', 'failed'] as const) assert.ok(progress({ state }).isKnown);
});

it('the remaining time follows from the rate, once the total and the rate are known and until the purge is over', () => {
  const known = { expected: 120, deleted: 20, ratePerSecond: 20 };
  assert.equal(progress(known).leftMs, 5000);
  for (const unknown of [
    { deleted: 20, ratePerSecond: 20 },
    { expected: 120, deleted: 20 },
    { ...known, ratePerSecond: 0 },
    { ...known, deleted: 120 },
    { ...known, state: 'succeeded' },
  ] as const)
    assert.equal(progress(unknown).leftMs, undefined, JSON.stringify(unknown));
});

it('a failed item is named with its entity and every part of it, and with its error', () => {
  const error = { status: 404, title: 'T', detail: 'D' };
  assert.deepEqual(
    failureText({ instanceId: 'i', datasetId: 'd', attribute: 'a', entityId: 'e', other: 'o', error }),
    { name: 'e · a · d · i', words: '404 D' },
  );
  assert.deepEqual(failureText({ entityId: 'e', error: { title: 'T' } }), { name: 'e', words: 'T' });
  for (const none of [undefined, null, 'x', {}])
    assert.deepEqual(failureText({ error: none }), { name: '', words: '' });
});

it('a list of deleted ids is offered if the purge keeps one', () => {
  for (const query of ['record=ids', 'type=A&record=ids', 'record=ids&type=A'])
    assert.ok(keepsIds({ query }), query);
  for (const query of ['', 'type=A', 'record=idsx', 'xrecord=ids', 'q=record%3Dids'])
    assert.ok(!keepsIds({ query }), query);
});

it('a page is a whole number from one on, and everything else is the first page', () => {
  for (const [given, page] of [
    [null, 1],
    ['', 1],
    ['0', 1],
    ['-3', 1],
    ['x', 1],
    ['2', 2],
    ['2.9', 2],
    ['17', 17],
  ] as const)
    assert.equal(pageOf(given), page, String(given));
});

const page = openTab();
const LOADED = { last: undefined, error: undefined, isLoading: false, reload: () => undefined };

it('the latest purges of all the given states are shown, newest first, and no more than requested', async () => {
  const { signal } = new AbortController();
  const at = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00Z` });
  const lists = { failed: [at(9), at(3)], partial: [at(8), at(2)], refused: [] };
  const states = ['failed', 'partial', 'refused'] as const;
  page.answer = ({ url }) =>
    Response.json(lists[states.find((state) => url.includes(`state=${state}`)) ?? 'refused']);
  const found = await latestPurges(states, 3, signal);
  assert.deepEqual(found, [at(9), at(8), at(3)]);
  assert.deepEqual(
    page.lines,
    states.map((state) => `GET api/v2/purges?state=${state}&dryRun=false&limit=3`),
  );
});

it('a page says which items it shows, and links to the pages before and after it if there are any', async () => {
  for (const [number, total, words] of [
    [1, 24, []],
    [1, 25, []],
    [1, 26, ['1–25 of 26', 'Next']],
    [2, 26, ['Previous', '26–26 of 26']],
    [2, 50, ['Previous', '26–50 of 50']],
    [2, 51, ['Previous', '26–50 of 51', 'Next']],
  ] as const) {
    const list = { ...LOADED, value: { items: ['x'], total }, page: number };
    const one = await page.open(h(Listing<string>, { list, to: () => '#', children: (items) => items }));
    assert.deepEqual(one.all('nav > *').map(nameOf), words);
  }
});
