import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities, FACT_TTL_MS, describeFacts } from '../../../../sidecar/purge/broker/index.js';

it('facts learnt about a broker are listed as a sentence each with their time, restrictions first', () => {
  let nowMs = 1000;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const entities = new BrokerCapabilities(clock);
  const temporal = new BrokerCapabilities(clock);
  entities.setHonoured('q');
  entities.learn('page pick', 500);
  nowMs = 2000;
  entities.learn('no-batch', true);
  temporal.learn('page-max', 200);
  temporal.learn('refused recent', true);
  const shown = describeFacts({ entities: entities.facts(), temporal: temporal.facts() });
  assert.deepEqual(
    shown.map(({ collection, name, kind, atMs }) => [collection, name, kind, atMs]),
    [
      ['entities', 'no-batch', 'limit', 2000],
      ['temporal', 'page-max', 'limit', 2000],
      ['temporal', 'refused recent', 'limit', 2000],
      ['entities', 'honoured', 'proof', 1000],
    ],
  );
  assert.match(shown[1]?.detail ?? '', /more than 200 /);
  for (const { detail } of shown) assert.match(detail, /^\S.*\.$/);
  nowMs = 1000 + FACT_TTL_MS;
  assert.ok(
    !describeFacts({ entities: entities.facts(), temporal: new Map() }).some(({ kind }) => kind === 'proof'),
  );
});

it('facts about reduced requests use the names of the request parameters', () => {
  for (const [projection, words] of [
    ['pick', 'pick=id'],
    ['key-values', 'options=keyValues'],
    ['recent-times', 'lastN, options=sysAttrs'],
    ['recent', 'the newest instances alone (lastN)'],
    ['times', 'system times (options=sysAttrs)'],
    ['none', 'none'],
  ] as const) {
    const facts = new Map([[`refused ${projection}`, { value: true, atMs: 0 } as const]]);
    const [lesson] = describeFacts({ entities: facts, temporal: new Map() });
    assert.ok(lesson?.detail.includes(words), lesson?.detail);
  }
});

it('intermediate facts about a broker are not listed', () => {
  for (const [name, value, isShown] of [
    ['page-max', 10, true],
    ['batch-max', 10, true],
    ['no-count', true, true],
    ['no-batch', true, true],
    ['needs-datasets', true, true],
    ['refused pick', true, true],
    ['counts-before q', true, true],
    ['honoured NGSILD-Tenant', true, true],
    ['collection-end', '/', true],
    ['collection-end', '', false],
    ['page pick', 100, false],
  ] as const) {
    const facts = new Map([[name, { value, atMs: 0 }]]);
    assert.equal(describeFacts({ entities: facts, temporal: new Map() }).length, isShown ? 1 : 0, name);
  }
});
