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
import { surveyOf } from '../hand-made-lister.js';

const COUNTED: ClosingFacts = { counted: 10, taken: 10, allowance: Infinity };
const UNCOUNTED: ClosingFacts = { counted: undefined, taken: 10, allowance: Infinity };
const SWEEP = { hasSwept: true };
const SWEPT: ClosingState = { ...initialClosing, ...SWEEP };

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

it('planClosing queries at most three times', () => {
  assert.equal(MAX_RECHECKS, 3);
});

const NEW = { fresh: ['urn:a:1'], unseen: 1 };
const DUE = { retryDue: ['urn:a:2'] };
const MISSING = { missing: ['urn:a:3'] };
const CUT = { complete: false };
const TRICKLING = { ...CUT, trickles: true };
const FEWER: ClosingFacts = { ...COUNTED, taken: 9 };

type Row = readonly [
  string,
  Partial<Survey>,
  Partial<ClosingState>,
  ClosingFacts,
  string,
  Partial<ClosingState>?,
];
const rows: readonly Row[] = [
  ['finishes if a complete survey shows nothing to do', {}, {}, COUNTED, 'finish'],
  ['finishes if a complete survey without a count shows nothing to do', {}, {}, UNCOUNTED, 'finish'],
  ['finishes even if matches arrived and are left', { unseen: 5 }, SWEPT, COUNTED, 'finish'],
  ['finishes at once if the broker lists no more than it counted', {}, SWEPT, COUNTED, 'finish'],
  ['finishes at once if fewer were counted than taken', {}, SWEPT, { ...COUNTED, taken: 11 }, 'finish'],
  ['does not wait for the end of single arrivals', TRICKLING, SWEPT, UNCOUNTED, 'finish'],
  ['continues with new ids', NEW, {}, COUNTED, 'work', SWEEP],
  ['continues with ids due for a retry', DUE, {}, COUNTED, 'work', SWEEP],
  [
    'waits for a lagging query before it repeats confirmed deletes',
    MISSING,
    {},
    COUNTED,
    'recheck',
    { rechecks: 1 },
  ],
  ['repeats confirmed deletes after one more query', MISSING, { rechecks: 1 }, COUNTED, 'work', SWEEP],
  [
    'does not wait for it while new ids are to be deleted',
    { ...MISSING, ...NEW },
    {},
    COUNTED,
    'work',
    SWEEP,
  ],
  ['does not wait for it while a retry is due', { ...MISSING, ...DUE }, {}, COUNTED, 'work', SWEEP],
  ['counts a sweep over single arrivals', { ...TRICKLING, ...NEW }, {}, UNCOUNTED, 'work', SWEEP],
  ['counts no sweep that was cut without a count', { ...CUT, ...NEW }, {}, UNCOUNTED, 'work', {}],
  ['counts a sweep that was cut if the broker had counted', { ...CUT, ...NEW }, {}, COUNTED, 'work', SWEEP],
  ['keeps an earlier sweep if a later one was cut', { ...CUT, ...DUE }, SWEPT, UNCOUNTED, 'work', SWEEP],
  ['counts a late sweep that takes new ids', NEW, SWEPT, UNCOUNTED, 'work', { lateSweeps: 1 }],
  ['counts it also if retries are due', { ...NEW, ...DUE }, SWEPT, UNCOUNTED, 'work', { lateSweeps: 1 }],
  ['counts no late sweep that takes no new ids', DUE, SWEPT, UNCOUNTED, 'work', { lateSweeps: 0 }],
  ...(
    [
      ['lingering ids', { lingering: 1 }, COUNTED],
      ['unlisted matches', { ...CUT, unlisted: 3 }, COUNTED],
      ['fewer matches than counted', {}, FEWER],
    ] as const
  ).flatMap(([what, findings, facts]): Row[] => [
    [`queries again for ${what}`, findings, { ...SWEPT, rechecks: 2 }, facts, 'recheck', { rechecks: 3 }],
    [`gives up after three queries for ${what}`, findings, { ...SWEPT, rechecks: 3 }, facts, 'finish'],
  ]),
];
for (const [what, findings, state, facts, kind, after] of rows)
  it(`planClosing ${what}`, () => {
    const before = { ...initialClosing, ...state };
    const step = planClosing(surveyOf(findings), before, facts);
    assert.equal(step.kind, kind);
    if (step.kind !== 'finish') assert.deepEqual(step.state, { ...before, ...after });
  });
