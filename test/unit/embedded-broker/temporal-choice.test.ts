import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { goodBehaviour, type Behaviour } from '../../../sidecar/embedded-broker/behaviour.js';
import { instanceChooser, ContentRange } from '../../../sidecar/embedded-broker/temporal-choice.js';
import { ALWAYS, type History } from '../../../sidecar/embedded-broker/temporal-history.js';
import type { TimeQuery } from '../../../sidecar/embedded-broker/temporal-selection.js';
import { minute, observed, storedHistory, timeQuery } from './temporal-entities.js';

function historyOf(instances: readonly object[]): History {
  const history = storedHistory({ n: instances }).entity.attributes.get('n');
  assert.ok(history);
  return history;
}

interface Options {
  readonly datasets?: ReadonlySet<string | undefined>;
  readonly behaviour?: Partial<Behaviour>;
  readonly instancesPerAttribute?: number;
}

function choose(history: History, time: TimeQuery, options: Options = {}) {
  const { datasets, behaviour, instancesPerAttribute = 1000 } = options;
  const chooser = instanceChooser(time, datasets, {
    behaviour: { ...goodBehaviour(), ...behaviour },
    limits: { instancesPerAttribute },
  });
  const choice = chooser(history);
  const contentRange = new ContentRange(time);
  contentRange.note(choice);
  return { values: choice.instances.map(({ body }) => body['value']), header: contentRange.header };
}

const history = historyOf([4, 1, 3, 2, 5].map((at) => observed(at)));

it('choosing instances shows those in the interval, oldest first', () => {
  assert.deepEqual(choose(history, timeQuery(2, 5)), { values: [2, 3, 4], header: undefined });
  assert.deepEqual(choose(history, timeQuery(6, 9)).values, []);
});

it('choosing instances with lastN shows the newest of the interval first, and says when it left out some', () => {
  assert.deepEqual(choose(history, timeQuery(2, 5, 3)), { values: [4, 3, 2], header: undefined });
  assert.deepEqual(choose(history, timeQuery(2, 5, 2)), {
    values: [4, 3],
    header: `DateTime ${minute(5)}-${minute(3)}/2`,
  });
});

it('choosing instances shows the datasets that are asked for, and counts only these', () => {
  const mixed = historyOf([
    observed(1),
    observed(2, 2, { datasetId: 'urn:d:1' }),
    observed(3, 3, { datasetId: 'urn:d:2' }),
    observed(4, 4, { datasetId: 'urn:d:1' }),
  ]);
  const of = (...datasets: (string | undefined)[]) => ({ datasets: new Set(datasets) });
  assert.deepEqual(choose(mixed, timeQuery(0, 9), of(undefined)).values, [1]);
  assert.deepEqual(choose(mixed, timeQuery(0, 9), of('urn:d:1', undefined)).values, [1, 2, 4]);
  assert.deepEqual(choose(mixed, timeQuery(0, 9, 2), of('urn:d:1')), { values: [4, 2], header: undefined });
  assert.deepEqual(choose(mixed, timeQuery(0, 9), of('urn:d:9')).values, []);
});

it('choosing instances shows no more than the limit, oldest first, or with lastN newest first', () => {
  const limited = { instancesPerAttribute: 2 };
  assert.deepEqual(choose(history, timeQuery(0, 9), limited), {
    values: [1, 2],
    header: `DateTime ${minute(0)}-${minute(2)}/*`,
  });
  assert.deepEqual(choose(history, timeQuery(0, 9, 4), limited), {
    values: [5, 4],
    header: `DateTime ${minute(9)}-${minute(4)}/4`,
  });
  assert.equal(choose(history, timeQuery(1, 3), limited).header, undefined);
  const smaller = { ...limited, behaviour: { instancePageSize: 1 } };
  assert.deepEqual(choose(history, timeQuery(0, 9), smaller).values, [1]);
});

it('a silent limit shows only the newest instances, in the requested order', () => {
  const silent = { behaviour: { silentInstanceLimit: 2, instancePageSize: 1 } };
  assert.deepEqual(choose(history, timeQuery(0, 5), silent), { values: [3, 4], header: undefined });
  assert.deepEqual(choose(history, timeQuery(0, 5, 4), silent), { values: [4, 3], header: undefined });
  assert.deepEqual(choose(history, timeQuery(0, 5, 1), silent), { values: [4], header: undefined });
});

it('choosing instances applies lastN before the interval when configured', () => {
  const behaviour = { lastNBeforeTime: true };
  assert.deepEqual(choose(history, timeQuery(2, 5, 3), { behaviour }).values, [4, 3]);
  assert.deepEqual(choose(history, timeQuery(0, 3, 3), { behaviour }).values, []);
  assert.deepEqual(choose(history, timeQuery(0, 3), { behaviour }).values, [1, 2]);
});

it('instances without the time come before all others where no interval is asked for', () => {
  const mixed = historyOf([observed(2), { type: 'Property', value: 'timeless' }, observed(1)]);
  const all: TimeQuery = { property: 'observedAt', relation: undefined, range: ALWAYS, lastN: undefined };
  assert.deepEqual(choose(mixed, all).values, ['timeless', 1, 2]);
  assert.deepEqual(choose(mixed, { ...all, lastN: 2 }).values, [2, 1]);
  assert.equal(
    choose(mixed, all, { instancesPerAttribute: 1 }).header,
    'DateTime 1970-01-01T00:00:00.000Z-1970-01-01T00:00:00.000Z/*',
  );
});

const time = (relation: 'before' | 'after', lastN?: number): TimeQuery => ({
  ...timeQuery(0, 9, lastN),
  relation,
  range:
    relation === 'before'
      ? { ...timeQuery(0, 9).range, from: -Number.MAX_VALUE }
      : { ...timeQuery(0, 9).range, to: Infinity },
});
const limited = { instancesPerAttribute: 2 };

it('the range of a partial answer starts at the bound that was given, else at the first instance shown', () => {
  assert.equal(choose(history, time('before'), limited).header, `DateTime ${minute(1)}-${minute(2)}/*`);
  assert.equal(choose(history, time('after'), limited).header, `DateTime ${minute(0)}-${minute(2)}/*`);
  assert.equal(choose(history, time('before', 3), limited).header, `DateTime ${minute(9)}-${minute(4)}/3`);
  assert.equal(choose(history, time('after', 3), limited).header, `DateTime ${minute(5)}-${minute(4)}/3`);
});

it('the range of a partial answer ends where the first attribute was truncated, so continuing there misses nothing', () => {
  const minutes = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(minutes, { minLength: 1, maxLength: 4 }), fc.boolean(), (series, backwards) => {
      const whole = { ...timeQuery(0, 21), ...(backwards ? { lastN: 99 } : {}) };
      const chooser = instanceChooser(whole, undefined, {
        behaviour: goodBehaviour(),
        limits: { instancesPerAttribute: 5 },
      });
      const contentRange = new ContentRange(whole);
      const shown = series.map((each) => {
        const choice = chooser(historyOf(each.map((at) => observed(at))));
        contentRange.note(choice);
        return choice.instances.map(({ body }) => Number(body['value']));
      });
      const isPartial = series.some((each) => each.length > 5);
      assert.equal(contentRange.header !== undefined, isPartial);
      if (contentRange.header === undefined) return;
      const end = Date.parse(/Z-(.*Z)\//.exec(contentRange.header)?.[1] ?? '');
      for (const [index, each] of series.entries()) {
        const missing = each.filter((at) => !shown[index]?.includes(at));
        for (const at of missing) {
          assert.ok(backwards ? Date.parse(minute(at)) <= end : Date.parse(minute(at)) >= end);
        }
      }
    }),
    { numRuns: 100 },
  );
});
