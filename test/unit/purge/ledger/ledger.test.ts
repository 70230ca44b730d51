import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import type { DeleteResult } from '../../../../sidecar/purge/broker/index.js';
import { TooManyMatchesError } from '../../../../sidecar/purge/errors.js';
import {
  IdState,
  keyOf,
  ItemLedger,
  type Item,
  type ItemOutcome,
  type PurgeCounts,
} from '../../../../sidecar/purge/ledger/index.js';

const GONE: DeleteResult = { kind: 'deleted' };
const ABSENT: DeleteResult = { kind: 'absent' };
const RETRYABLE: DeleteResult = { kind: 'retryable', problem: { status: 503, title: 'Busy' } };
const UNCLEAR: DeleteResult = { kind: 'unclear', problem: { status: 500 } };
const REFUSED: DeleteResult = { kind: 'refused', problem: { status: 403, title: 'Forbidden' } };
const ONE: Item = { entityId: 'urn:a:1' };
const TWO: Item = { entityId: 'urn:a:2' };

const NONE: PurgeCounts = { matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 };
const counted = (counts: Partial<PurgeCounts>): PurgeCounts => ({ ...NONE, ...counts });

function tallyOf(...settled: readonly (readonly [Item, DeleteResult])[]): ItemLedger {
  const ledger = new ItemLedger();
  for (const [item, verdict] of settled) {
    ledger.add(item);
    ledger.record(item, verdict, false);
  }
  return ledger;
}

/** Settles items by a survey that lists these items. */
function survey(ledger: ItemLedger, showsAll: boolean, ...listed: readonly Item[]): void {
  ledger.states.startSurvey();
  for (const item of listed) ledger.states.markListed(keyOf(item));
  ledger.resolveBySurvey(showsAll);
}

it('ItemLedger: the new items of pages are added up to the maximum, and repeated ones ignored', () => {
  const pages = fc.array(
    fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { maxLength: 6 }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 8 }), pages, (maxAffected, all) => {
      const ledger = new ItemLedger(maxAffected);
      const taken = new Set<string>();
      for (const page of all) {
        const fresh = [...new Set(page)].filter((id) => !taken.has(id));
        if (taken.size + fresh.length > maxAffected) {
          assert.throws(() => ledger.addNew(page), TooManyMatchesError);
        } else {
          assert.deepEqual(ledger.addNew(page), fresh);
          for (const id of fresh) taken.add(id);
        }
        assert.equal(ledger.matched, taken.size);
      }
    }),
  );
});

it('ItemLedger: items are added one by one up to the maximum, and no further', () => {
  const ledger = new ItemLedger(2);
  for (const item of [ONE, TWO]) ledger.add(item);
  assert.throws(
    () => ledger.add({ entityId: 'urn:a:3' }),
    (error: unknown) =>
      error instanceof TooManyMatchesError && error.matched === 3 && error.maxAffected === 2 && !error.exact,
  );
  assert.equal(ledger.matched, 2);
});

type Step = (ledger: ItemLedger) => void;
const STILL_LISTED = { status: 409, title: 'Entity still listed' };

/** What can happen to the item ONE. */
const STEPS = {
  confirmed: (ledger) => ledger.record(ONE, GONE, false),
  absent: (ledger) => ledger.record(ONE, ABSENT, false),
  busy: (ledger) => ledger.record(ONE, RETRYABLE, false),
  statusless: (ledger) => ledger.record(ONE, UNCLEAR, false),
  refused: (ledger) => ledger.record(ONE, REFUSED, false),
  'at last confirmed': (ledger) => ledger.record(ONE, GONE, true),
  'at last absent': (ledger) => ledger.record(ONE, ABSENT, true),
  'at last busy': (ledger) => ledger.record(ONE, RETRYABLE, true),
  'at last statusless': (ledger) => ledger.record(ONE, UNCLEAR, true),
  'at last refused': (ledger) => ledger.record(ONE, REFUSED, true),
  unclear: (ledger) => ledger.markUnclear(ONE),
  'still listed': (ledger) => ledger.recordStillListed(ONE, STILL_LISTED),
  'given up': (ledger) => ledger.recordFailure(ONE, STILL_LISTED),
  'found to be there': (ledger) => ledger.resolveAsPresent(ONE),
  'found to be gone': (ledger) => ledger.resolveAsDeleted(ONE),
  'not in the last survey': (ledger) => survey(ledger, true),
  'in the last survey': (ledger) => survey(ledger, true, ONE),
} satisfies Record<string, Step>;
const isStep = (name: string): name is keyof typeof STEPS => Object.hasOwn(STEPS, name);

for (const [steps, state, count, outcomes] of [
  ['', 'pending', undefined, ''],
  ['confirmed', 'gone', 'deleted', 'deleted'],
  ['confirmed, at last confirmed', 'goneTwice', 'deleted', 'deleted deleted'],
  ['confirmed, at last absent', 'goneTwice', 'deleted', 'deleted deleted'],
  ['confirmed, at last refused', 'failed', 'failed', 'deleted notDeleted'],
  ['confirmed, at last busy', 'failed', 'failed', 'deleted notDeleted'],
  ['confirmed, given up', 'failed', 'failed', 'deleted notDeleted'],
  ['confirmed, unclear', 'gone', 'unknown', 'deleted unknown'],
  ['confirmed, unclear, at last busy', 'failed', 'unknown', 'deleted unknown'],
  ['confirmed, unclear, found to be there', 'failed', 'failed', 'deleted unknown notDeleted'],
  ['confirmed, unclear, found to be gone', 'goneTwice', 'deleted', 'deleted unknown deleted'],
  ['confirmed, at last confirmed, still listed', 'failed', 'failed', 'deleted deleted notDeleted'],
  [
    'confirmed, at last confirmed, still listed, not in the last survey',
    'absentTwice',
    'alreadyGone',
    'deleted deleted notDeleted alreadyGone',
  ],
  ['absent', 'absent', 'alreadyGone', 'alreadyGone'],
  ['absent, at last absent', 'absentTwice', 'alreadyGone', 'alreadyGone alreadyGone'],
  ['absent, at last confirmed', 'goneTwice', 'deleted', 'alreadyGone deleted'],
  ['absent, at last refused', 'failed', 'failed', 'alreadyGone notDeleted'],
  ['absent, unclear', 'absent', 'unknown', 'alreadyGone unknown'],
  ['busy', 'retryDue', 'failed', ''],
  ['busy, at last busy', 'failed', 'failed', ''],
  ['busy, at last absent', 'absentTwice', 'alreadyGone', 'alreadyGone'],
  ['statusless', 'retryDue', 'failed', ''],
  ['statusless, at last statusless', 'failed', 'failed', ''],
  ['refused', 'failed', 'failed', ''],
  ['refused, in the last survey', 'failed', 'failed', ''],
  ['refused, not in the last survey', 'absentTwice', 'alreadyGone', 'alreadyGone'],
  ['unclear', 'pending', 'unknown', 'unknown'],
  ['unclear, confirmed', 'gone', 'deleted', 'unknown deleted'],
  ['unclear, absent', 'gone', 'deleted', 'unknown deleted'],
  ['unclear, at last absent', 'goneTwice', 'deleted', 'unknown deleted'],
  ['unclear, busy', 'retryDue', 'unknown', 'unknown'],
  ['unclear, busy, found to be there', 'retryDue', 'failed', 'unknown notDeleted'],
  ['unclear, at last busy, in the last survey', 'failed', 'failed', 'unknown notDeleted'],
  ['unclear, at last busy, not in the last survey', 'goneTwice', 'deleted', 'unknown deleted'],
] as const)
  it(`ItemLedger: an item that is ${steps === '' ? 'added' : steps} is ${state}, and counts as ${count ?? 'nothing'}`, () => {
    const { ledger, told } = observed();
    ledger.add(ONE);
    for (const name of steps.split(', ')) if (isStep(name)) STEPS[name](ledger);
    assert.deepEqual(ledger.counts, counted({ matched: 1, ...(count === undefined ? {} : { [count]: 1 }) }));
    assert.equal(ledger.states.get('urn:a:1'), IdState[state]);
    assert.equal(told.map(([, outcome]) => outcome).join(' '), outcomes);
    assert.deepEqual(ledger.unclear, count === 'unknown' ? [ONE] : []);
    const isGone = count === 'deleted' || count === 'alreadyGone';
    if (count !== 'unknown') assert.deepEqual(ledger.success, isGone ? ['urn:a:1'] : []);
  });

it('ItemLedger: a final retry that succeeds removes the error', () => {
  const ledger = tallyOf([ONE, RETRYABLE]);
  assert.equal(ledger.errors[0]?.error.title, 'Busy');
  ledger.record(ONE, GONE, true);
  assert.deepEqual(ledger.counts, counted({ matched: 1, deleted: 1 }));
  assert.deepEqual([ledger.errors, ledger.success], [[], ['urn:a:1']]);
});

it('ItemLedger: an item still listed after two confirmed deletes is failed, and no longer a success', () => {
  const ledger = tallyOf([ONE, GONE]);
  ledger.recordStillListed(ONE, { status: 409, title: 'Entity still listed' });
  assert.deepEqual(ledger.counts, counted({ matched: 1, failed: 1 }));
  assert.deepEqual(ledger.success, []);
  assert.equal(ledger.errors[0]?.error.status, 409);
});

it('ItemLedger: unclear items count as unknown while in flight, and after their tries ran out', () => {
  const ledger = new ItemLedger();
  ledger.add(ONE);
  ledger.markUnclear(ONE);
  assert.deepEqual(ledger.counts, counted({ matched: 1, unknown: 1 }));
  ledger.record(ONE, RETRYABLE, false);
  assert.deepEqual(ledger.counts, counted({ matched: 1, unknown: 1 }));
  ledger.recordFailure(ONE, { status: 502, title: 'Broken' });
  assert.deepEqual(ledger.counts, counted({ matched: 1, unknown: 1 }));
  assert.deepEqual(ledger.unclear, [ONE]);
  assert.deepEqual(ledger.success, []);
  const [shown] = ledger.errors;
  assert.equal(shown?.error.type, 'urn:ngsi-ld-gateway:problem:outcome-unknown');
  assert.equal(shown.error.status, 502);
});

it('ItemLedger: resolved unclear items make room for others', () => {
  const ledger = new ItemLedger();
  const items = Array.from({ length: 10_001 }, (_, index) => ({ entityId: `urn:a:${index}` }));
  for (const item of items.slice(0, -1)) {
    ledger.add(item);
    ledger.markUnclear(item);
    ledger.record(item, GONE, false);
  }
  const last = items.at(-1) ?? ONE;
  ledger.add(last);
  ledger.markUnclear(last);
  assert.deepEqual(ledger.unclear, [last]);
});

it('ItemLedger: unclear items are deleted if a query no longer finds them, and not if the query does', () => {
  for (const settle of [false, true]) {
    const ledger = new ItemLedger();
    for (const item of [ONE, TWO]) {
      ledger.add(item);
      ledger.markUnclear(item);
      if (settle) ledger.record(item, RETRYABLE, false);
    }
    ledger.resolveAsDeleted(ONE);
    ledger.resolveAsPresent(TWO);
    assert.deepEqual(ledger.counts, counted({ matched: 2, deleted: 1, failed: settle ? 1 : 0 }));
    assert.deepEqual(ledger.unclear, []);
    assert.equal(ledger.states.get('urn:a:1'), IdState.goneTwice, 'it needs no other try');
    assert.deepEqual(ledger.success, ['urn:a:1']);
    assert.deepEqual(
      ledger.errors.map(({ entityId }) => entityId),
      settle ? ['urn:a:2'] : [],
    );
  }
});

it('ItemLedger: unclear items are all counted, and up to 10,000 of the current query are kept to be resolved', () => {
  const ledger = new ItemLedger();
  for (let index = 0; index < 10_500; index++) {
    const item = { entityId: `urn:a:${index}` };
    ledger.add(item);
    ledger.markUnclear(item);
  }
  assert.deepEqual([ledger.counts.unknown, ledger.unclear.length], [10_500, 10_000]);
  ledger.forgetUnclear();
  assert.deepEqual([ledger.counts.unknown, ledger.unclear.length], [10_500, 0]);
});

it('ItemLedger: items that were never added cannot become unclear', () => {
  const ledger = new ItemLedger();
  ledger.markUnclear(ONE);
  assert.deepEqual(ledger.counts, NONE);
});

const THREE: Item = { entityId: 'urn:a:3' };
const FOUR: Item = { entityId: 'urn:a:4' };
function mixed(): ItemLedger {
  const ledger = tallyOf([ONE, REFUSED], [TWO, REFUSED], [THREE, GONE]);
  ledger.add(FOUR);
  ledger.markUnclear(FOUR);
  ledger.record(FOUR, RETRYABLE, false);
  return ledger;
}

it('ItemLedger: a complete last survey resolves unlisted items as deleted if unclear, else as already gone', () => {
  const ledger = mixed();
  survey(ledger, true, ONE);
  assert.deepEqual(ledger.counts, counted({ matched: 4, deleted: 2, alreadyGone: 1, failed: 1 }));
  assert.deepEqual(
    ledger.errors.map(({ entityId }) => entityId),
    ['urn:a:1'],
  );
  assert.deepEqual([...ledger.success].sort(), ['urn:a:2', 'urn:a:3', 'urn:a:4']);
});

it('ItemLedger: a partial last survey resolves no unlisted item', () => {
  const ledger = mixed();
  survey(ledger, false);
  assert.deepEqual(ledger.counts, counted({ matched: 4, deleted: 1, failed: 2, unknown: 1 }));
});

it('ItemLedger: a last survey resolves listed items as not deleted', () => {
  const ledger = mixed();
  survey(ledger, false, FOUR);
  assert.deepEqual(ledger.counts, counted({ matched: 4, deleted: 1, failed: 3 }));
  const shown = ledger.errors.find(({ entityId }) => entityId === 'urn:a:4');
  assert.equal(shown?.error.title, 'Busy');
});

const speed: Item = { entityId: 'urn:a:1', attribute: 'speed' };
const color: Item = { entityId: 'urn:a:1', attribute: 'color' };

it('ItemLedger: attributes of one entity are items of their own', () => {
  const ledger = tallyOf([speed, GONE], [color, GONE], [ONE, GONE]);
  assert.equal(ledger.matched, 3);
  assert.deepEqual(ledger.success, ['urn:a:1']);
  assert.equal(new Set([speed, color, ONE].map(keyOf)).size, 3);
});

it('ItemLedger: success never names an entity with a failed attribute, whatever was settled first', () => {
  for (const order of [
    [speed, color],
    [color, speed],
  ] as const) {
    const ledger = tallyOf(...order.map((item) => [item, item === speed ? GONE : REFUSED] as const));
    assert.deepEqual(ledger.success, []);
    assert.equal(ledger.errors[0]?.attribute, 'color');
  }
});

it('ItemLedger: success never names an entity with a failed attribute, even when the list of errors is full', () => {
  for (const isFirst of [true, false]) {
    const ledger = new ItemLedger();
    if (isFirst) ledger.record(speed, GONE, false);
    for (let index = 0; index < 1000; index++)
      ledger.record({ entityId: `urn:b:${index}`, attribute: 'x' }, REFUSED, false);
    ledger.record(color, REFUSED, false);
    ledger.record({ entityId: 'urn:b:0', attribute: 'x' }, GONE, true);
    if (!isFirst) ledger.record(speed, GONE, false);
    assert.ok(!ledger.success.includes('urn:a:1'), `${isFirst}`);
  }
});

it('ItemLedger: a full list of errors keeps its entries up to date, and hides no deleted entity', () => {
  const ledger = new ItemLedger();
  for (let index = 0; index < 1001; index++) {
    const item = { entityId: `urn:b:${index}` };
    ledger.add(item);
    ledger.record(item, RETRYABLE, false);
  }
  for (const entityId of ['urn:b:0', 'urn:b:1000']) ledger.record({ entityId }, REFUSED, true);
  ledger.add(ONE);
  ledger.record(ONE, GONE, false);
  const { errors, success } = ledger;
  assert.deepEqual([errors.length, success], [1000, ['urn:a:1']]);
  const shown = (entityId: string) => errors.find((error) => error.entityId === entityId)?.error.status;
  assert.deepEqual([shown('urn:b:0'), shown('urn:b:1'), shown('urn:b:1000')], [403, 503, undefined]);
});

it('ItemLedger: the counts add up to the items, whatever happens to them', () => {
  const items = fc.record({
    entityId: fc.constantFrom('urn:a:1', 'urn:a:2', '__proto__'),
    attribute: fc.constantFrom('a', 'b'),
  });
  const verdicts = fc.constantFrom(GONE, ABSENT, RETRYABLE, UNCLEAR, REFUSED);
  const steps = fc.array(fc.tuple(items, verdicts, fc.boolean(), fc.boolean()));
  fc.assert(
    fc.property(steps, fc.array(items), fc.boolean(), (settled, listed, showsAll) => {
      const ledger = new ItemLedger();
      for (const [item, verdict, isFinalTry, isUnclear] of settled) {
        ledger.add(item);
        if (isUnclear) ledger.markUnclear(item);
        ledger.record(item, verdict, isFinalTry);
      }
      const check = () => {
        const { matched, deleted, alreadyGone, failed, unknown } = ledger.counts;
        assert.equal(deleted + alreadyGone + failed + unknown, matched);
        assert.equal(ledger.errors.length, failed + unknown);
        const bad = new Set(ledger.errors.map(({ entityId }) => entityId));
        for (const entityId of ledger.success) assert.ok(!bad.has(entityId));
      };
      check();
      survey(ledger, showsAll, ...listed);
      check();
      for (const item of ledger.unclear) {
        if (item.attribute === 'a') ledger.resolveAsDeleted(item);
        else ledger.resolveAsPresent(item);
        check();
      }
      assert.equal(ledger.counts.unknown, 0);
    }),
  );
});

const attribute = { entityId: 'urn:a:1', attribute: 'speed' };

it('the key of an item belongs to a single entity, attribute, dataset, instance or digest', () => {
  const items: readonly Item[] = [
    { entityId: 'urn:a:1' },
    { entityId: 'urn:a:2' },
    attribute,
    { ...attribute, attribute: 'x' },
    { ...attribute, entityId: 'urn:a:2' },
    { ...attribute, datasetId: 'x' },
    { ...attribute, datasetId: '@none' },
    { ...attribute, instanceId: 'x' },
    { ...attribute, instanceId: '@none' },
    { ...attribute, digest: 'x' },
    { ...attribute, attribute: 'x', instanceId: 'speed' },
  ];
  assert.equal(new Set(items.map(keyOf)).size, items.length);
});

it('the key of an instance stays the same when its dataset or time changes', () => {
  const instance = { ...attribute, instanceId: 'urn:i:1' };
  const keys = [
    instance,
    { ...instance, datasetId: 'urn:d:1' },
    { ...instance, time: { observedAt: '2026-01-01T00:00:00Z' } },
  ].map(keyOf);
  assert.equal(new Set(keys).size, 1);
});

it('the key of an item differs with each of its parts, which contain no NUL', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'i', 'x', 'd', ':', ' ', '/'), minLength: 1 });
  const items = fc.record({ entityId: texts, attribute: texts, instanceId: texts });
  fc.assert(
    fc.property(items, items, (one, other) => {
      assert.equal(keyOf(one) === keyOf(other), JSON.stringify(one) === JSON.stringify(other));
      const byDigest = ({ instanceId, ...rest }: typeof one): Item => ({ ...rest, digest: instanceId });
      assert.notEqual(keyOf(one), keyOf(byDigest(one)));
    }),
  );
});

it('the keys of instances of one attribute differ, and their errors name them', () => {
  const one = { ...attribute, instanceId: 'urn:i:1', datasetId: 'urn:d:1', time: { observedAt: 'T' } };
  const ledger = tallyOf(
    [one, REFUSED],
    [{ ...attribute, instanceId: 'urn:i:2' }, GONE],
    [{ ...attribute, digest: 'x' }, REFUSED],
  );
  assert.deepEqual(ledger.counts, counted({ matched: 3, deleted: 1, failed: 2 }));
  const { error, ...item } = ledger.errors[0] ?? {};
  assert.deepEqual([item, error?.status], [one, 403]);
  assert.deepEqual(ledger.success, []);
});

/** A ledger, and the reported outcomes of its items. */
function observed() {
  const told: (readonly [string, ItemOutcome])[] = [];
  const ledger = new ItemLedger(Infinity, (item, outcome) => told.push([keyOf(item), outcome]));
  return { ledger, told };
}

it('ItemLedger: the last reported outcomes agree with the counts, whatever happens to the items', () => {
  const verdicts = fc.constantFrom(GONE, ABSENT, RETRYABLE, UNCLEAR, REFUSED);
  const tries = fc.record({
    unclear: fc.tuple(fc.boolean(), fc.boolean()),
    verdicts: fc.tuple(verdicts, fc.option(fc.oneof(verdicts, fc.constant(undefined)))),
    isPresent: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(tries, { maxLength: 6 }), fc.boolean(), (all, showsAll) => {
      const { ledger, told: events } = observed();
      const items = all.map((each, index) => ({ ...each, item: { entityId: `urn:a:${index}` } }));
      for (const each of items) {
        const { item, unclear: isUnclear } = each;
        ledger.add(item);
        if (isUnclear[0]) ledger.markUnclear(item);
        ledger.record(item, each.verdicts[0], false);
        if (each.verdicts[1] === null || ledger.states.get(keyOf(item)) === IdState.failed) continue;
        if (isUnclear[1]) ledger.markUnclear(item);
        if (each.verdicts[1] === undefined) ledger.recordFailure(item, STILL_LISTED);
        else ledger.record(item, each.verdicts[1], true);
      }
      const check = () => {
        const last = new Map(events);
        const count = (outcome: ItemOutcome) => [...last.values()].filter((is) => is === outcome).length;
        const { deleted, alreadyGone, unknown, failed } = ledger.counts;
        assert.deepEqual(
          [count('deleted'), count('alreadyGone'), count('unknown')],
          [deleted, alreadyGone, unknown],
        );
        assert.ok(count('notDeleted') <= failed);
      };
      check();
      survey(ledger, showsAll, ...items.filter(({ isPresent }) => isPresent).map(({ item }) => item));
      check();
      for (const { item, isPresent } of items) {
        if (!ledger.unclear.includes(item)) continue;
        if (isPresent) ledger.resolveAsPresent(item);
        else ledger.resolveAsDeleted(item);
        check();
      }
    }),
  );
});
