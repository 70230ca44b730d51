import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { IdLedger, IdState } from '../../../sidecar/purge/id-ledger.js';

type Known = Exclude<IdState, 0>;

const STATES: readonly Known[] = [1, 2, 3, 4, 5];
const ID_COUNT = 200_000;
const idOf = (index: number) => `urn:ngsi-ld:Car:${index}`;

describe('IdLedger', () => {
  it('behaves as a map from ids to states, with counts and survey marks', () => {
    const ids = fc.oneof(
      fc.constantFrom('urn:a:1', 'urn:a:2', 'urn:a:2\u0000speed', '', '__proto__', 'constructor'),
      fc.string({ maxLength: 4 }),
    );
    const operations = fc.oneof(
      fc.tuple(fc.constant('set'), ids, fc.constantFrom(...STATES)),
      fc.tuple(fc.constant('mark'), ids, fc.constant(1)),
      fc.tuple(fc.constant('survey'), fc.constant(''), fc.constant(1)),
      fc.tuple(fc.constant('reserve'), fc.constant(''), fc.constant(1)),
    );
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 60 }), (steps) => {
        const ledger = new IdLedger();
        const states = new Map<string, Known>();
        let listed = new Set<string>();
        let surveys = 0;
        const startSurvey = () => {
          ledger.startSurvey();
          listed = new Set();
          surveys += 1;
        };
        startSurvey();
        for (const [kind, id, state] of steps) {
          if (kind === 'reserve') ledger.reserve(2000);
          else if (kind === 'set') {
            ledger.set(id, state);
            states.set(id, state);
          } else if (kind === 'mark') {
            assert.equal(ledger.markListed(id), states.has(id) && !listed.has(id));
            if (states.has(id)) listed.add(id);
          } else if (surveys < 31) startSurvey();
        }
        assert.equal(ledger.size, states.size);
        assert.equal(ledger.get('urn:never:seen'), IdState.unknown);
        for (const [id, state] of states) {
          assert.equal(ledger.get(id), state);
          assert.equal(ledger.isListed(id), listed.has(id));
        }
        for (const state of STATES) {
          const inState = [...states.keys()].filter((id) => states.get(id) === state);
          assert.equal(ledger.count(state), inState.length);
          assert.equal(ledger.countUnlisted(state), inState.filter((id) => !listed.has(id)).length);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('keeps the mark of an id when its state changes, and its state when it is marked', () => {
    const ledger = new IdLedger();
    ledger.set('urn:a:1', IdState.gone);
    ledger.startSurvey();
    assert.equal(ledger.markListed('urn:a:1'), true);
    ledger.set('urn:a:1', IdState.unsettled);
    assert.equal(ledger.isListed('urn:a:1'), true);
    assert.equal(ledger.markListed('urn:a:1'), false);
    assert.equal(ledger.get('urn:a:1'), IdState.unsettled);
  });

  it('never marks an id that it does not know', () => {
    const ledger = new IdLedger();
    ledger.startSurvey();
    assert.equal(ledger.markListed('urn:a:1'), false);
    assert.equal(ledger.isListed('urn:a:1'), false);
    assert.equal(ledger.size, 0);
  });

  it('starts every survey without marks, however many there are', () => {
    const ledger = new IdLedger();
    ledger.set('urn:a:1', IdState.failed);
    for (let survey = 0; survey < 200; survey++) {
      ledger.startSurvey();
      assert.equal(ledger.isListed('urn:a:1'), false, String(survey));
      assert.equal(ledger.countUnlisted(IdState.failed), 1);
      assert.equal(ledger.markListed('urn:a:1'), true);
      assert.equal(ledger.countUnlisted(IdState.failed), 0);
    }
  });

  it('tells hundreds of thousands of similar ids apart while it grows, marks included', () => {
    const ledger = new IdLedger();
    ledger.startSurvey();
    for (let index = 0; index < ID_COUNT; index++) {
      ledger.set(idOf(index), STATES[index % 5] ?? 1);
      if (index % 3 === 0) ledger.markListed(idOf(index));
    }
    assert.equal(ledger.size, ID_COUNT);
    for (const state of STATES) assert.equal(ledger.count(state), ID_COUNT / 5);
    let wrong = 0;
    for (let index = 0; index < ID_COUNT; index++) {
      if (ledger.get(idOf(index)) !== STATES[index % 5] || ledger.isListed(idOf(index)) !== (index % 3 === 0))
        wrong += 1;
      if (index % 10 === 0 && ledger.get(idOf(ID_COUNT + index)) !== IdState.unknown) wrong += 1;
    }
    assert.equal(wrong, 0);
  });

  it('holds ids in a table outside the heap, nine bytes a slot, and never as strings', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    const before = process.memoryUsage();
    const ledger = new IdLedger();
    for (let index = 0; index < ID_COUNT; index++) ledger.set(idOf(index), IdState.pending);
    collectGarbage();
    const after = process.memoryUsage();
    // The table doubles when it is 60 % full: 200 000 ids take 2^19 slots. What it outgrew, as much again in all, may
    // not be collected yet.
    const tableBytes = 9 * 2 ** 19;
    const bytes = after.arrayBuffers - before.arrayBuffers;
    assert.ok(bytes < 2 * tableBytes + 100_000, `${bytes} bytes outside the heap`);
    assert.ok(
      after.heapUsed - before.heapUsed < 8_000_000,
      `${after.heapUsed - before.heapUsed} bytes of heap`,
    );
    assert.equal(ledger.size, ID_COUNT);
  });

  it('tells ids apart whatever its seed is', () => {
    const seeds = [Buffer.alloc(8), Buffer.alloc(8, 255), Buffer.from('0123456789abcdef', 'hex')];
    for (const seed of seeds) {
      const ledger = new IdLedger(seed);
      for (let index = 0; index < 5000; index++) ledger.set(idOf(index), IdState.pending);
      assert.equal(ledger.size, 5000);
    }
  });
});
