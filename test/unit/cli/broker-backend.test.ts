import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { purgeViews } from '../../../sidecar/cli/broker-backend.js';
import type { PurgeRequest } from '../../../sidecar/cli/purge-backend.js';
import type { PurgeView } from '../../../sidecar/cli/purge-view.js';
import {
  BrokerRefusedError,
  PurgeStoppedError,
  type PurgeEvent,
  type PurgeReport,
} from '../../../sidecar/purge/index.js';

const WISH: PurgeRequest = {
  target: 'entities',
  query: 'type=A',
  tenant: 'city',
  link: undefined,
  options: {},
};
const NONE = { matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0, requests: 1, retries: 0 };
const progress = (counts: Partial<typeof NONE> & { readonly hasBegun?: boolean }): PurgeEvent => ({
  type: 'progress',
  hasBegun: false,
  ...NONE,
  ...counts,
});
const finished = (members: Partial<PurgeReport>): PurgeReport => ({
  ...NONE,
  dryRun: false,
  success: [],
  errors: [],
  sample: [],
  warnings: [],
  arrived: 0,
  ...members,
});

/** The views of a purge with these events, each sent after the previous one was shown, and with this end. */
async function shown(
  events: readonly PurgeEvent[],
  end: PurgeReport | Error = finished({}),
): Promise<readonly PurgeView[]> {
  let nowMs = 0;
  const all: PurgeView[] = [];
  const clock = { now: () => (nowMs += 1000) };
  const run = async (onEvent: (event: PurgeEvent) => void) => {
    for (const event of events) {
      onEvent(event);
      await turn();
    }
    if (end instanceof Error) throw end;
    return end;
  };
  for await (const view of purgeViews(WISH, 'entities', run, clock)) all.push(view);
  return all;
}

it('the view of a purge shows the larger of counted and listed matches, and the number never falls', async () => {
  const views = await shown(
    [
      { type: 'counted', matches: 100 },
      { type: 'counted', matches: 40 },
      progress({ matched: 60, deleted: 50 }),
      progress({ matched: 130, deleted: 60 }),
    ],
    finished({ matched: 130, deleted: 130 }),
  );
  assert.deepEqual(
    views.map(({ state, matched, deleted }) => [state, matched, deleted]),
    [
      ['running', 0, 0],
      ['running', 100, 0],
      ['running', 100, 0],
      ['running', 100, 50],
      ['running', 130, 60],
      ['succeeded', 130, 130],
    ],
  );
});

it('a purge is partial if items failed or are unknown or the broker warned, and otherwise succeeded', async () => {
  for (const [members, state] of [
    [{}, 'succeeded'],
    [{ alreadyGone: 3, arrived: 4 }, 'succeeded'],
    [{ failed: 1 }, 'partial'],
    [{ unknown: 1 }, 'partial'],
    [{ warnings: ['A source is missing.'] }, 'partial'],
  ] as const)
    assert.equal((await shown([], finished(members))).at(-1)?.state, state, JSON.stringify(members));
});

it('the last view of a purge has all counts, arrivals, warnings, a hundred errors and both times', async () => {
  const errors = Array.from({ length: 101 }, (_, index) => ({
    entityId: `urn:a:${index}`,
    error: { type: 'about:blank', title: 'No', status: 409 },
  }));
  const counts = { matched: 9, deleted: 1, alreadyGone: 2, failed: 3, unknown: 4, requests: 5 };
  const [first, last] = await shown([], finished({ ...counts, errors, warnings: ['W'], arrived: 6 }));
  assert.deepEqual(last, {
    ...first,
    ...counts,
    state: 'partial',
    errors: errors.slice(0, 100),
    warnings: ['W'],
    arrived: 6,
    startedAt: '1970-01-01T00:00:01.000Z',
    endedAt: '1970-01-01T00:00:02.000Z',
    tenant: 'city',
  });
});

it('a purge refused by the broker is shown as refused before its first delete, and as failed afterwards', async () => {
  const refusal = new BrokerRefusedError('list entities', {
    type: 'about:blank',
    title: 'No',
    status: 403,
  });
  const end = async (events: readonly PurgeEvent[]) => (await shown(events, refusal)).at(-1);
  assert.equal((await end([]))?.state, 'refused');
  assert.equal((await end([progress({ matched: 3 })]))?.state, 'refused');
  const begun = await end([
    progress({ hasBegun: true, deleted: 2 }),
    progress({ hasBegun: false, deleted: 2 }),
  ]);
  assert.deepEqual([begun?.state, begun?.deleted], ['failed', 2]);
  assert.notEqual(begun?.problem, undefined);
});

it('a purge that fails keeps its counts, and a stopped purge has no problem', async () => {
  const failed = (await shown([progress({ deleted: 2 })], new Error('secret'))).at(-1);
  assert.deepEqual([failed?.state, failed?.deleted, failed?.problem?.status], ['failed', 2, 500]);
  assert.doesNotMatch(JSON.stringify(failed), /secret/);
  const stopped = (await shown([progress({ deleted: 2 })], new PurgeStoppedError('It was cancelled.'))).at(
    -1,
  );
  assert.deepEqual([stopped?.state, stopped?.deleted, stopped?.problem], ['cancelled', 2, undefined]);
});
