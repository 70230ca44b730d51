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

const FIRST = { isFinal: false };
const FINAL = { isFinal: true };

for (const [what, steps, counts, state] of [
  ['has no outcome before its delete is answered', [], {}, IdState.pending],
  ['is deleted once that is confirmed', [[GONE, FIRST]], { deleted: 1 }, IdState.gone],
  [
    'stays deleted after a second delete',
    [
      [GONE, FIRST],
      [GONE, FINAL],
    ],
    { deleted: 1 },
    IdState.goneTwice,
  ],
  ['was gone already where it is absent', [[ABSENT, FIRST]], { alreadyGone: 1 }, IdState.absent],
  [
    'was gone already where it is absent twice',
    [
      [ABSENT, FIRST],
      [ABSENT, FINAL],
    ],
    { alreadyGone: 1 },
    IdState.absentTwice,
  ],
  [
    'was gone already where it is absent after a failure',
    [
      [RETRYABLE, FIRST],
      [ABSENT, FINAL],
    ],
    { alreadyGone: 1 },
    IdState.absentTwice,
  ],
  [
    'is deleted where it is absent after a confirmed delete',
    [
      [GONE, FIRST],
      [ABSENT, FINAL],
    ],
    { deleted: 1 },
    IdState.goneTwice,
  ],
  [
    'is deleted where it is absent after an unclear delete',
    ['unclear', [ABSENT, FIRST]],
    { deleted: 1 },
    IdState.gone,
  ],
  [
    'is deleted where it is absent at last after an unclear delete',
    ['unclear', [ABSENT, FINAL]],
    { deleted: 1 },
    IdState.goneTwice,
  ],
  [
    'is deleted where it was absent at first',
    [
      [ABSENT, FIRST],
      [GONE, FINAL],
    ],
    { deleted: 1 },
    IdState.goneTwice,
  ],
  ['is due again after a failure that may pass', [[RETRYABLE, FIRST]], { failed: 1 }, IdState.retryDue],
  [
    'is failed after a second such failure',
    [
      [RETRYABLE, FIRST],
      [RETRYABLE, FINAL],
    ],
    { failed: 1 },
    IdState.failed,
  ],
  ['is due again after a failure without a status', [[UNCLEAR, FIRST]], { failed: 1 }, IdState.retryDue],
  [
    'is failed after a second failure without a status',
    [
      [UNCLEAR, FIRST],
      [UNCLEAR, FINAL],
    ],
    { failed: 1 },
    IdState.failed,
  ],
  ['is failed once it is refused', [[REFUSED, FIRST]], { failed: 1 }, IdState.failed],
  ['is unknown while an unclear delete is in flight', ['unclear'], { unknown: 1 }, IdState.pending],
  ['stays unknown after a failure', ['unclear', [RETRYABLE, FIRST]], { unknown: 1 }, IdState.retryDue],
  ['is clear once a later try is confirmed', ['unclear', [GONE, FIRST]], { deleted: 1 }, IdState.gone],
] as const satisfies readonly (readonly [
  string,
  readonly ('unclear' | readonly [DeleteResult, object])[],
  object,
  IdState,
])[])
  it(`ItemLedger: an item ${what}`, () => {
    const ledger = new ItemLedger();
    ledger.add(ONE);
    for (const step of steps) {
      if (step === 'unclear') ledger.markUnclear(ONE);
      else ledger.record(ONE, step[0], step[1].isFinal);
    }
    assert.deepEqual(ledger.counts, counted({ matched: 1, ...counts }));
    assert.equal(ledger.states.get('urn:a:1'), state);
    const isGone = 'deleted' in counts || 'alreadyGone' in counts;
    assert.deepEqual(ledger.success, isGone ? ['urn:a:1'] : []);
    assert.deepEqual(ledger.unclear, 'unknown' in counts ? [ONE] : []);
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

const STILL_LISTED = { status: 409, title: 'Entity still listed' };

/** A ledger, and the reported outcomes of its items. */
function observed() {
  const told: (readonly [string, ItemOutcome])[] = [];
  const ledger = new ItemLedger(Infinity, (item, outcome) => told.push([keyOf(item), outcome]));
  return { ledger, told };
}

/** The outcomes reported for one item after these steps. */
function toldOf(...steps: readonly ((ledger: ItemLedger) => void)[]) {
  const { ledger, told } = observed();
  ledger.add(ONE);
  for (const step of steps) step(ledger);
  return { outcomes: told.map(([, outcome]) => outcome), counts: { ...ledger.counts, matched: 0 } };
}

type Step = (ledger: ItemLedger) => void;
const first =
  (verdict: DeleteResult): Step =>
  (ledger) =>
    ledger.record(ONE, verdict, false);
const final =
  (verdict: DeleteResult): Step =>
  (ledger) =>
    ledger.record(ONE, verdict, true);
const unclear: Step = (ledger) => ledger.markUnclear(ONE);
const stillListed: Step = (ledger) => ledger.recordStillListed(ONE, STILL_LISTED);
const givenUp: Step = (ledger) => ledger.recordFailure(ONE, STILL_LISTED);
const notShown: Step = (ledger) => survey(ledger, true);
const shown: Step = (ledger) => survey(ledger, true, ONE);
const present: Step = (ledger) => ledger.resolveAsPresent(ONE);
const missing: Step = (ledger) => ledger.resolveAsDeleted(ONE);

const told: Readonly<
  Record<string, readonly [readonly Step[], readonly ItemOutcome[], Partial<PurgeCounts>]>
> = {
  'confirmed twice and still listed': [
    [first(GONE), final(GONE), stillListed],
    ['deleted', 'deleted', 'notDeleted'],
    { failed: 1 },
  ],
  'confirmed, still listed, then refused': [
    [first(GONE), final(REFUSED)],
    ['deleted', 'notDeleted'],
    { failed: 1 },
  ],
  'confirmed, still listed, then out of tries': [
    [first(GONE), final(RETRYABLE)],
    ['deleted', 'notDeleted'],
    { failed: 1 },
  ],
  'confirmed, still listed, then given up': [
    [first(GONE), givenUp],
    ['deleted', 'notDeleted'],
    { failed: 1 },
  ],
  'absent, still listed, then refused': [
    [first(ABSENT), final(REFUSED)],
    ['alreadyGone', 'notDeleted'],
    { failed: 1 },
  ],
  'confirmed, still listed, then without an answer': [
    [first(GONE), unclear],
    ['deleted', 'unknown'],
    { unknown: 1 },
  ],
  'absent, still listed, then without an answer': [
    [first(ABSENT), unclear],
    ['alreadyGone', 'unknown'],
    { unknown: 1 },
  ],
  'confirmed, then without an answer until the tries ran out': [
    [first(GONE), unclear, final(RETRYABLE)],
    ['deleted', 'unknown'],
    { unknown: 1 },
  ],
  'confirmed, then without an answer, and found to be there': [
    [first(GONE), unclear, present],
    ['deleted', 'unknown', 'notDeleted'],
    { failed: 1 },
  ],
  'confirmed, then without an answer, and found to be gone': [
    [first(GONE), unclear, missing],
    ['deleted', 'unknown', 'deleted'],
    { deleted: 1 },
  ],
  'without an answer, and found to be there': [
    [unclear, first(RETRYABLE), present],
    ['unknown', 'notDeleted'],
    { failed: 1 },
  ],
  'refused, and later deleted by another client': [
    [first(REFUSED), notShown],
    ['alreadyGone'],
    { alreadyGone: 1 },
  ],
  'confirmed twice, still listed, and later deleted by another client': [
    [first(GONE), final(GONE), stillListed, notShown],
    ['deleted', 'deleted', 'notDeleted', 'alreadyGone'],
    { alreadyGone: 1 },
  ],
  'without an answer, and gone in the last survey': [
    [unclear, final(RETRYABLE), notShown],
    ['unknown', 'deleted'],
    { deleted: 1 },
  ],
  'without an answer, and listed by the last survey': [
    [unclear, final(RETRYABLE), shown],
    ['unknown', 'notDeleted'],
    { failed: 1 },
  ],
  'refused, and listed by the last survey': [[first(REFUSED), shown], [], { failed: 1 }],
};

for (const [what, [steps, outcomes, counts]] of Object.entries(told)) {
  it(`ItemLedger: the last reported outcome of an item agrees with the counts: ${what}`, () => {
    assert.deepEqual(toldOf(...steps), { outcomes, counts: counted(counts) });
  });
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
