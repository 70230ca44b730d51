import assert from 'node:assert/strict';
import { it } from 'node:test';
import { h } from 'preact';
import type { Purge } from '../../../console/api/client.js';
import { PurgeTable } from '../../../console/parts/purge-table.js';
import { PurgeDetails } from '../../../console/purge/purge-details.js';
import { text } from '../../../console/strings.js';
import { nameOf, openTab } from './open-tab.js';

const page = openTab();

const record = {
  id: 'p',
  query: 'type=T',
  state: 'failed',
  target: 'entities',
  policy: {},
  errors: [],
  warnings: [],
  createdAt: '2026-01-01T00:00:00Z',
  problem: { title: 'Bad Gateway', status: 502, detail: 'The broker gave up.' },
  ...{ matched: 1, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 },
  ...{ requests: 1, retries: 0, concurrency: 1 },
};

it('a list of purges tells restores and purges of history from purges of entities', async () => {
  const purges = (['entities', 'temporal', 'restore'] as const).map(
    (target) => ({ ...record, id: target, target }) as unknown as Purge,
  );
  const one = await page.open(h(PurgeTable, { purges, label: 'L' }));
  assert.deepEqual(one.all('td.query').map(nameOf), ['type=T', 'temporal type=T', 'restore type=T']);
  // Nothing is deleted by a restore.
  assert.deepEqual(one.all('td.number:nth-of-type(5)').map(nameOf), ['0', '0', '–']);
});

it('the stored error of a purge is a section of its page and not announced as an alert', async () => {
  page.answer = () => new Response(`data: ${JSON.stringify(record)}\n\n`);
  const one = await page.open(h(PurgeDetails, { id: 'p' }));
  assert.ok(one.text.includes(record.problem.detail));
  assert.equal(one.all('[role="alert"]').length, 0);
  assert.ok(one.all('h2').map(nameOf).includes(`${text.run.why}502`));
});
