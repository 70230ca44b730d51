import assert from 'node:assert/strict';
import { it } from 'node:test';
import { h } from 'preact';
import { PurgeDetails } from '../../../console/purge/purge-details.js';
import { text } from '../../../console/strings.js';
import { nameOf, openTab } from './open-tab.js';

const page = openTab();

it('the stored error of a purge is a section of its page and not announced as an alert', async () => {
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
  page.answer = () => new Response(`data: ${JSON.stringify(record)}\n\n`);
  const one = await page.open(h(PurgeDetails, { id: 'p' }));
  assert.ok(one.text.includes(record.problem.detail));
  assert.equal(one.all('[role="alert"]').length, 0);
  assert.ok(one.all('h2').map(nameOf).includes(`${text.run.why}502`));
});
