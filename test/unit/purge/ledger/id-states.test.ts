import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { IdStates, IdState } from '../../../../sidecar/purge/ledger/index.js';

type Known = Exclude<IdState, 0>;

const STATES: readonly Known[] = [1, 2, 3, 4, 5, 6, 7, 8];
const ID_COUNT = 200_000;
const idOf = (index: number) => `urn:ngsi-ld:Car:${index}`;

/** The effect of a survey on an entry: only entries that were not deleted change. */
function settled(
  entry: { readonly state: Known; readonly isUnclear: boolean },
  isListed: boolean,
  showsAll: boolean,
): { state: Known; isUnclear: boolean } {
  const { state, isUnclear } = entry;
  const isNeverSent = state === IdState.pending && !isUnclear;
  if (state !== IdState.retryDue && state !== IdState.failed && !isNeverSent) return entry;
  if (isNeverSent && (isListed || !showsAll)) return { state: IdState.failed, isUnclear };
  if (isListed) return { state, isUnclear: false };
  if (!showsAll) return entry;
  return { state: isUnclear ? IdState.goneTwice : IdState.absentTwice, isUnclear: false };
}

it('IdStates behaves like a map from ids to states, with counts and survey marks', () => {
  const ids = fc.oneof(
    fc.constantFrom('urn:a:1', 'urn:a:2', 'urn:a:2\u0000speed', '', '__proto__', 'constructor'),
    fc.string({ maxLength: 4 }),
  );
  const operations = fc.oneof(
    fc.record({
      kind: fc.constant('set'),
      id: ids,
      state: fc.constantFrom(...STATES),
      isUnclear: fc.constantFrom(true, false, undefined),
    }),
    fc.record({ kind: fc.constantFrom('add', 'mark'), id: ids }),
    fc.record({ kind: fc.constantFrom('survey', 'settle', 'settle all') }),
  );
  fc.assert(
    fc.property(fc.array(operations, { maxLength: 60 }), (steps) => {
      const states = new IdStates();
      const known = new Map<string, { state: Known; isUnclear: boolean }>();
      let listed = new Set<string>();
      states.startSurvey();
      for (const step of steps) {
        if ('state' in step) {
          const { id, state, isUnclear } = step;
          states.set(id, state, isUnclear);
          known.set(id, { state, isUnclear: isUnclear ?? known.get(id)?.isUnclear ?? false });
        } else if (step.kind === 'add') {
          assert.equal(states.add(step.id), !known.has(step.id));
          if (!known.has(step.id)) known.set(step.id, { state: IdState.pending, isUnclear: false });
        } else if ('id' in step) {
          assert.equal(states.markListed(step.id), known.has(step.id) && !listed.has(step.id));
          if (known.has(step.id)) listed.add(step.id);
        } else if (step.kind === 'survey') {
          states.startSurvey();
          listed = new Set();
        } else {
          const showsAll = step.kind === 'settle all';
          states.resolveBySurvey(showsAll);
          for (const [id, entry] of known) known.set(id, settled(entry, listed.has(id), showsAll));
        }
      }
      assert.equal(states.size, known.size);
      assert.equal(states.get('urn:never:seen'), IdState.unknown);
      assert.equal(states.isUnclear('urn:never:seen'), false);
      for (const [id, { state, isUnclear }] of known) {
        assert.deepEqual([states.get(id), states.isUnclear(id)], [state, isUnclear]);
        assert.equal(states.isListed(id), listed.has(id));
      }
      const all = [...known.values()];
      assert.equal(states.count(...STATES), all.length);
      assert.equal(states.countUnclear(...STATES), all.filter(({ isUnclear }) => isUnclear).length);
      for (const state of STATES) {
        const inState = all.filter((entry) => entry.state === state);
        const unclear = inState.filter(({ isUnclear }) => isUnclear).length;
        assert.equal(states.count(state), inState.length);
        assert.equal(states.countUnclear(state), unclear);
      }
    }),
    { numRuns: 300 },
  );
});

it('IdStates keeps the mark of an id if its state changes, and its state if it is marked', () => {
  const states = new IdStates();
  states.set('urn:a:1', IdState.gone);
  states.startSurvey();
  assert.equal(states.markListed('urn:a:1'), true);
  states.set('urn:a:1', IdState.retryDue);
  assert.equal(states.isListed('urn:a:1'), true);
  assert.equal(states.markListed('urn:a:1'), false);
  assert.equal(states.get('urn:a:1'), IdState.retryDue);
});

it('IdStates never marks an id that it does not know', () => {
  const states = new IdStates();
  assert.equal(states.isListed('urn:a:1'), false);
  states.startSurvey();
  assert.equal(states.markListed('urn:a:1'), false);
  assert.equal(states.isListed('urn:a:1'), false);
  assert.equal(states.size, 0);
});

it('IdStates starts every survey without marks, however many surveys there are', () => {
  const states = new IdStates();
  states.set('urn:a:1', IdState.failed);
  for (let survey = 0; survey < 200; survey++) {
    states.startSurvey();
    assert.equal(states.isListed('urn:a:1'), false, String(survey));
    assert.equal(states.markListed('urn:a:1'), true);
    assert.equal(states.isListed('urn:a:1'), true);
  }
});

it('IdStates distinguishes hundreds of thousands of similar ids while it grows, marks included', () => {
  const states = new IdStates();
  states.startSurvey();
  for (let index = 0; index < ID_COUNT; index++) {
    states.set(idOf(index), STATES[index % STATES.length] ?? 1);
    if (index % 3 === 0) states.markListed(idOf(index));
  }
  assert.equal(states.size, ID_COUNT);
  for (const state of STATES) {
    const expected = Math.ceil((ID_COUNT - STATES.indexOf(state)) / STATES.length);
    assert.equal(states.count(state), expected);
  }
  let wrong = 0;
  for (let index = 0; index < ID_COUNT; index++) {
    if (
      states.get(idOf(index)) !== STATES[index % STATES.length] ||
      states.isListed(idOf(index)) !== (index % 3 === 0)
    )
      wrong += 1;
    if (index % 10 === 0 && states.get(idOf(ID_COUNT + index)) !== IdState.unknown) wrong += 1;
  }
  assert.equal(wrong, 0);
});

it('IdStates keeps ids in a table outside the heap, nine bytes a slot, and never as strings', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  collectGarbage();
  const before = process.memoryUsage();
  const states = new IdStates();
  for (let index = 0; index < ID_COUNT; index++) states.set(idOf(index), IdState.pending);
  collectGarbage();
  const after = process.memoryUsage();
  // The table doubles when it is 60 % full: 200 000 ids take 2^19 slots. Outgrown tables, as much again in all, may not be
  // collected yet.
  const tableBytes = 9 * 2 ** 19;
  const bytes = after.arrayBuffers - before.arrayBuffers;
  assert.ok(bytes < 2 * tableBytes + 100_000, `${bytes} bytes outside the heap`);
  assert.ok(
    after.heapUsed - before.heapUsed < 8_000_000,
    `${after.heapUsed - before.heapUsed} bytes of heap`,
  );
  assert.equal(states.size, ID_COUNT);
});

it('IdStates distinguishes ids whatever its seed', () => {
  const seeds = [Buffer.alloc(8), Buffer.alloc(8, 255), Buffer.from('0123456789abcdef', 'hex')];
  for (const seed of seeds) {
    const states = new IdStates(seed);
    for (let index = 0; index < 5000; index++) states.set(idOf(index), IdState.pending);
    assert.equal(states.size, 5000);
  }
});
