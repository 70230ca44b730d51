import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  initialClosing,
  planClosing,
  takesFresh,
  type ClosingFacts,
  type ClosingState,
} from '../../../../sidecar/purge/entities/drain.js';
import { MAX_RECHECKS, type Survey } from '../../../../sidecar/purge/deleting/index.js';

function surveyOf(findings: Partial<Survey> = {}): Survey {
  return {
    complete: true,
    trickles: false,
    unlisted: 0,
    lastCount: 0,
    fresh: [],
    unseen: 0,
    unplanned: 0,
    reappeared: [],
    reappearedCount: 0,
    missing: [],
    listed: { atMs: 0, tookMs: 0 },
    retryDue: [],
    lingering: 0,
    ...findings,
  };
}

const COUNTED: ClosingFacts = { counted: 10, taken: 10, allowance: Infinity };
const UNCOUNTED: ClosingFacts = { counted: undefined, taken: 10, allowance: Infinity };
const SWEPT: ClosingState = { ...initialClosing, hasSwept: true };

it('takesFresh takes new ids in exactly one sweep after the drain', () => {
  assert.equal(takesFresh(initialClosing, COUNTED), true);
  assert.equal(takesFresh(SWEPT, COUNTED), false);
});

it('takesFresh takes new ids while fewer were taken than counted', () => {
  assert.equal(takesFresh(SWEPT, { ...COUNTED, taken: 9 }), true);
});

it('takesFresh leaves arrivals when the counted matches reach the maximum', () => {
  assert.equal(takesFresh(initialClosing, { ...COUNTED, allowance: 0 }), false);
  assert.equal(takesFresh(initialClosing, { ...COUNTED, allowance: 5 }), true);
});

it('takesFresh allows a few more sweeps without a count, then none', () => {
  let state = SWEPT;
  let sweeps = 0;
  while (takesFresh(state, UNCOUNTED)) {
    assert.ok(++sweeps < 10);
    const step = planClosing(surveyOf({ fresh: ['urn:a:1'], unseen: 1 }), state, UNCOUNTED);
    assert.ok(step.kind === 'work');
    state = step.state;
  }
  assert.equal(sweeps, 3);
});

it('planClosing finishes if a complete survey shows nothing to do', () => {
  for (const facts of [COUNTED, UNCOUNTED]) {
    assert.deepEqual(planClosing(surveyOf(), initialClosing, facts), { kind: 'finish' });
  }
});

it('planClosing finishes even if matches arrived and are left', () => {
  assert.deepEqual(planClosing(surveyOf({ unseen: 5 }), SWEPT, COUNTED), { kind: 'finish' });
});

it('planClosing continues with new ids and ids due for a retry', () => {
  for (const findings of [{ fresh: ['urn:a:1'] }, { retryDue: ['urn:a:1'] }]) {
    assert.equal(planClosing(surveyOf(findings), initialClosing, COUNTED).kind, 'work');
  }
});

it('planClosing queries once more before it repeats confirmed deletes, because the query may lag behind', () => {
  const survey = surveyOf({ missing: ['urn:a:1'] });
  const step = planClosing(survey, initialClosing, COUNTED);
  assert.deepEqual(step, { kind: 'recheck', state: { ...initialClosing, rechecks: 1 } });
  assert.equal(planClosing(survey, { ...initialClosing, rechecks: 1 }, COUNTED).kind, 'work');
});

it('planClosing does not wait for a lagging query while other ids are to be deleted', () => {
  for (const more of [{ fresh: ['urn:a:2'] }, { retryDue: ['urn:a:2'] }]) {
    const step = planClosing(surveyOf({ missing: ['urn:a:1'], ...more }), initialClosing, COUNTED);
    assert.equal(step.kind, 'work');
  }
});

it('planClosing treats single new matches as arrivals and does not wait for their end', () => {
  const trickling = { complete: false, trickles: true };
  const step = planClosing(surveyOf({ ...trickling, fresh: ['urn:a:1'] }), initialClosing, UNCOUNTED);
  assert.ok(step.kind === 'work' && step.state.hasSwept);
  assert.equal(planClosing(surveyOf(trickling), SWEPT, UNCOUNTED).kind, 'finish');
});

it('planClosing counts a sweep only if its survey was complete, or the broker had counted', () => {
  const cut = surveyOf({ fresh: ['urn:a:1'], complete: false });
  const hasSwept = (facts: ClosingFacts) => {
    const step = planClosing(cut, initialClosing, facts);
    return step.kind === 'work' && step.state.hasSwept;
  };
  assert.equal(hasSwept(UNCOUNTED), false);
  assert.equal(hasSwept(COUNTED), true);
});

it('planClosing counts a late sweep only if it takes new ids, after the first full one', () => {
  for (const [hasSwept, fresh, retryDue, lateSweeps] of [
    [true, ['urn:a:1'], [], 1],
    [true, ['urn:a:1'], ['urn:a:2'], 1],
    [true, [], ['urn:a:2'], 0],
    [false, ['urn:a:1'], [], 0],
    [false, [], ['urn:a:2'], 0],
  ] as const) {
    const survey = surveyOf({ fresh, retryDue });
    const step = planClosing(survey, { ...initialClosing, hasSwept, rechecks: 2 }, UNCOUNTED);
    assert.deepEqual(step, { kind: 'work', state: { hasSwept: true, lateSweeps, rechecks: 2 } });
  }
});

it('planClosing keeps earlier sweeps, whatever a later survey shows', () => {
  const cut = surveyOf({ retryDue: ['urn:a:1'], complete: false });
  const step = planClosing(cut, SWEPT, UNCOUNTED);
  assert.ok(step.kind === 'work' && step.state.hasSwept);
});

it('planClosing finishes at once if the broker lists no more than it counted, or fewer were counted than taken', () => {
  for (const taken of [10, 11]) {
    assert.deepEqual(planClosing(surveyOf(), SWEPT, { ...COUNTED, taken }), { kind: 'finish' });
  }
});

it('planClosing queries three times before it finishes with uncertain facts', () => {
  assert.equal(MAX_RECHECKS, 3);
  const cases: [Survey, ClosingFacts][] = [
    [surveyOf({ lingering: 1 }), COUNTED],
    [surveyOf({ complete: false, unlisted: 3 }), COUNTED],
    [surveyOf(), { ...COUNTED, taken: 9 }],
  ];
  for (const [survey, facts] of cases) {
    assert.equal(planClosing(survey, { ...SWEPT, rechecks: MAX_RECHECKS - 1 }, facts).kind, 'recheck');
    assert.equal(planClosing(survey, { ...SWEPT, rechecks: MAX_RECHECKS }, facts).kind, 'finish');
  }
});
