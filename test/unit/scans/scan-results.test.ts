import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ScanResults } from '../../../sidecar/scans/scan-results.js';
import { EntityJudge, type EntityJudgeParts } from '../../../sidecar/schemas/models/entity-judge.js';
import { judgingTasks } from '../../../sidecar/schemas/validation/judging.js';
import { TaskTooCostlyError } from '../../../sidecar/shared/workers/errors.js';

it('a page with more findings than a record keeps is marked as having more', () => {
  const names = Array.from({ length: 1001 }, (_, index) => `a${String(index)}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]));
  const entities = names.map((name) => ({
    id: `urn:ngsi-ld:Thing:${name}`,
    type: 'Thing',
    [name]: { type: 'Property', value: 'no number' },
  }));
  const outcome = judgingTasks.judge({
    page: JSON.stringify(entities),
    take: entities.map((_, index) => index),
    models: [{ key: 'k', name: 'Thing' }],
    unknownTypes: [],
    ambiguousTypes: [],
    reported: 0,
    schemas: [['k', JSON.stringify({ type: 'object', properties })]],
  });
  assert.ok('judged' in outcome);
  const tally = new ScanResults();
  tally.add({ judged: outcome.judged, models: [{ domain: 'D', model: 'Thing', version: 1 }] });
  assert.equal(tally.counts.findings.length, 1000);
  assert.match(tally.warnings.join(' '), /There are more findings than the 1000 shown/);
});

it('a scan warns of single values that would be valid as arrays of one item, as some brokers show them', () => {
  const value = (one: unknown) => ({ type: 'Property', value: one });
  const entities = [value('a'), value(['a']), value('b'), value('c'), value({ a: 1 })].map(
    (kinds, index) => ({
      id: `urn:ngsi-ld:Thing:${String(index)}`,
      type: 'Thing',
      kinds,
      size: value('large'),
    }),
  );
  const kinds = { type: 'array', items: { enum: ['a', 'b'] } };
  const outcome = judgingTasks.judge({
    page: JSON.stringify(entities),
    take: entities.map((_, index) => index),
    models: [{ key: 'kinds', name: 'Thing' }],
    unknownTypes: [],
    ambiguousTypes: [],
    reported: 10,
    schemas: [['kinds', JSON.stringify({ type: 'object', properties: { kinds, size: { type: 'number' } } })]],
  });
  assert.ok('judged' in outcome);
  const tally = new ScanResults();
  tally.add({ judged: outcome.judged, models: [{ domain: 'D', model: 'Thing', version: 1 }] });
  const found = tally.counts.findings.map(({ pointer, entities: number }) => [pointer, number]);
  assert.deepEqual(found, [
    ['/size/value', 5],
    ['/kinds/value', 4],
  ]);
  const [warning = '', ...others] = tally.warnings;
  assert.match(warning, /^2 values at \/kinds\/value would be valid as an array of one item\. Brokers/);
  assert.deepEqual(others, []);
});

it('a long id is cut in the findings of a scan', () => {
  const id = `urn:ngsi-ld:Thing:${'x'.repeat(5000)}`;
  const outcome = judgingTasks.judge({
    page: JSON.stringify([{ id, type: 'Thing' }]),
    take: [0],
    models: [{ key: 'needs', name: 'Thing' }],
    unknownTypes: [],
    ambiguousTypes: [],
    reported: 1,
    schemas: [['needs', JSON.stringify({ type: 'object', required: ['a'] })]],
  });
  assert.ok('judged' in outcome);
  const { findings, entities } = outcome.judged;
  assert.deepEqual([findings[0]?.sample[0]?.length, entities[0]?.id.length], [1000, 1000]);
});

it('an entity that is too costly to judge is named, and the others on its page are judged', async () => {
  const parts = {
    schemas: { ofNew: async () => ({ contentHash: 'k', text: async () => '{}' }) },
    workers: {
      run: async (_kind: string, { take }: { readonly take: readonly number[] }) => {
        if (take.includes(2)) throw new TaskTooCostlyError('time', 'It took too long.');
        const none = { invalid: 0, entities: [], findings: [], others: [], unreadable: [] };
        return { judged: { valid: take.length, ...none, models: [{ valid: take.length, invalid: 0 }] } };
      },
    },
  } as unknown as EntityJudgeParts;
  const judge = await new EntityJudge(parts).forScan({ candidate: {} });
  const page = { text: '[]', ids: ['urn:a', 'urn:b', 'urn:c', 'urn:d'] };
  const tally = new ScanResults();
  for (const verdict of await judge.judge(page, [0, 1, 2, 3], 10, new AbortController().signal))
    tally.add(verdict);
  assert.deepEqual([tally.counts.checked, tally.counts.notJudged], [3, 1]);
  assert.match(tally.warnings.join(), /1 entity was not judged: judging it took too much .*\(urn:c\)/);
});
