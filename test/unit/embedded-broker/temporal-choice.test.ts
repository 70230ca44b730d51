import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readTemporalEntity } from '../../../sidecar/embedded-broker/entity-input.js';
import { TemporalStore } from '../../../sidecar/embedded-broker/temporal-store.js';
import { goodBehaviour } from '../../../sidecar/embedded-broker/behaviour.js';
import { instanceChooser, ContentRange } from '../../../sidecar/embedded-broker/temporal-choice.js';
import { ALWAYS, type History } from '../../../sidecar/embedded-broker/temporal-history.js';
import type { TimeQuery } from '../../../sidecar/embedded-broker/temporal-selection.js';

/** The moment this many minutes into 2026, in the notation of instances and queries. */
const minute = (at: number): string => new Date(minuteMs(at)).toISOString();
const minuteMs = (at: number): number => Date.UTC(2026, 0, 1, 0, at);

/** A Property observed at the given minute. */
function observed(at: number, value: unknown = at, more: object = {}): object {
  return { type: 'Property', value, observedAt: minute(at), ...more };
}

/** A time query on observedAt, between two minutes. */
function timeQuery(from: number, to: number, lastN?: number): TimeQuery {
  return {
    property: 'observedAt',
    relation: 'between',
    range: { from: minuteMs(from), to: minuteMs(to) },
    lastN,
  };
}

function historyOf(instances: readonly object[]): History {
  const content = readTemporalEntity({ id: 'urn:ngsi-ld:T:1', type: 'T', n: instances });
  const store = new TemporalStore();
  store.put({ ...content, types: content.types ?? [] }, 0);
  const history = store.entities.get(content.id)?.attributes.get('n');
  assert.ok(history);
  return history;
}

function choose(history: History, time: TimeQuery, { instancesPerAttribute = 1000 } = {}) {
  const chooser = instanceChooser(time, undefined, {
    behaviour: goodBehaviour(),
    limits: { instancesPerAttribute },
  });
  const choice = chooser(history);
  const contentRange = new ContentRange(time);
  contentRange.note(choice);
  return { values: choice.instances.map(({ body }) => body['value']), header: contentRange.header };
}

const history = historyOf([4, 1, 3, 2, 5].map((at) => observed(at)));

it('instances without the time come first if the query has no interval', () => {
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

it('the range of a partial answer starts at the given bound, or else at the first instance shown', () => {
  assert.equal(choose(history, time('before'), limited).header, `DateTime ${minute(1)}-${minute(2)}/*`);
  assert.equal(choose(history, time('after'), limited).header, `DateTime ${minute(0)}-${minute(2)}/*`);
  assert.equal(choose(history, time('before', 3), limited).header, `DateTime ${minute(9)}-${minute(4)}/3`);
  assert.equal(choose(history, time('after', 3), limited).header, `DateTime ${minute(5)}-${minute(4)}/3`);
});

it('the range of a partial answer ends where the first attribute was truncated, so that continuing there misses nothing', () => {
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
