import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, it, mock } from 'node:test';
import { ApiError, type Purge } from '../../../console/api/client.js';
import { watchJob } from '../../../console/api/events.js';
import { purgeEvents } from '../../../console/purge/purge-api.js';
import { isFinal } from '../../../sidecar/client/purges.js';
import { whenVisible } from '../../../console/shared/visibility.js';
import { openTab, problem, settled, type Answer } from './open-tab.js';

type State = Purge['state'];

const eventOf = (state: State) => `id: 1\ndata: ${JSON.stringify({ state })}\n\n`;
const streamOf = (...states: readonly State[]) => new Response(states.map(eventOf).join(''));

const page = openTab();
let aborter: AbortController;
/** The reports: the state of a record, or `broken`. */
let told: string[];
beforeEach(() => {
  aborter = new AbortController();
  told = [];
});
afterEach(() => {
  mock.restoreAll();
  aborter.abort();
});

const watch = async (answer: Answer, id = 'a') => {
  page.answer = answer;
  const result: { end?: unknown; error?: unknown } = {};
  watchJob<Purge>({
    ask: (signal) => purgeEvents(id, signal),
    signal: aborter.signal,
    onRecord: ({ state }) => told.push(state),
    onBroken: () => told.push('broken'),
  }).then(
    () => (result.end = true),
    (error: unknown) => (result.error = error),
  );
  await settled();
  return result;
};

/** Returns the number of listeners that were added to the document from now on. */
const countListeners = () => {
  const [added, removed] = [
    mock.method(document, 'addEventListener').mock,
    mock.method(document, 'removeEventListener').mock,
  ];
  return () => added.callCount() - removed.callCount();
};

/** Lets a time pass, with all its effects. */
const pass = async (milliseconds: number) => {
  mock.timers.tick(milliseconds);
  await settled();
};

it('a purge has ended in every state except queued, running and cancelling', () => {
  for (const state of ['queued', 'running', 'cancelling'] as const) assert.ok(!isFinal({ state }), state);
  for (const state of ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'] as const)
    assert.ok(isFinal({ state }), state);
});

it('a purge is watched to its end, and not requested again', async () => {
  const result = await watch(() => streamOf('queued', 'running', 'succeeded', 'running'), 'a/b');
  assert.deepEqual(told, ['queued', 'running', 'succeeded']);
  assert.deepEqual(result, { end: true });
  await pass(60_000);
  assert.deepEqual(page.lines, ['GET api/v2/purges/a%2Fb/events']);
});

it('a stream that ends before its purge is requested again, after growing pauses of five seconds at most', async () => {
  const result = await watch(() => new Response(''));
  for (const [index, pause] of [500, 1000, 2000, 5000, 5000, 5000].entries()) {
    await pass(pause - 1);
    assert.equal(page.sent.length, index + 1);
    await pass(1);
    assert.equal(page.sent.length, index + 2);
  }
  assert.deepEqual([told, result], [[], {}]);
  // However long it takes, a pause leaves nothing behind, except for the current one.
  assert.equal(getEventListeners(aborter.signal, 'abort').length, 1);
});

it('a broken stream is reported, and a record resets the pauses', async () => {
  const answers: (Response | Error)[] = [
    new TypeError('fetch failed'),
    problem(503),
    streamOf('running'),
    problem(502),
    streamOf('succeeded'),
  ];
  const result = await watch((_request, index) => {
    const answer = answers[index] ?? assert.fail('it is over');
    if (answer instanceof Error) throw answer;
    return answer;
  });
  assert.deepEqual(told.splice(0), ['broken']);
  await pass(500);
  assert.deepEqual(told.splice(0), ['broken']);
  await pass(999);
  assert.deepEqual(told, []);
  await pass(1);
  assert.deepEqual(told.splice(0), ['running']);
  await pass(500);
  assert.deepEqual(told.splice(0), ['broken']);
  await pass(1000);
  assert.deepEqual(told, ['succeeded']);
  assert.deepEqual(result, { end: true });
});

it('permanent refusals end the watch, and temporary ones do not', async () => {
  for (const [status, isEnd] of [
    [400, true],
    [401, true],
    [403, true],
    [404, true],
    [499, true],
    [429, false],
    [500, false],
    [503, false],
  ] as const) {
    const { error } = await watch(() => problem(status));
    assert.equal(error instanceof ApiError, isEnd, String(status));
    aborter.abort();
    await settled();
    aborter = new AbortController();
  }
});

it('a stream that is silent for forty seconds counts as broken', async () => {
  await watch(() => new Response(new ReadableStream({})));
  await pass(39_999);
  assert.deepEqual(told, []);
  await pass(1);
  assert.deepEqual(told, ['broken']);
  await pass(500);
  assert.equal(page.sent.length, 2);
});

it('an unreadable record is requested again', async () => {
  await watch((_request, index) => (index === 0 ? new Response('data: {\n\n') : streamOf('failed')));
  assert.deepEqual(told, ['broken']);
  await pass(500);
  assert.deepEqual(told, ['broken', 'failed']);
});

it('an aborted watch sends no more requests, in the middle of a stream or of a pause', async () => {
  const open = () =>
    new Response(
      new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(eventOf('running'))) }),
    );
  const result = await watch(open);
  assert.deepEqual(told, ['running']);
  const isAborted = () => page.sent[0]?.signal.aborted;
  assert.equal(isAborted(), false);
  aborter.abort();
  assert.equal(isAborted(), true);
  aborter = new AbortController();
  const other = await watch(() => problem(503));
  const asked = page.sent.length;
  aborter.abort();
  await pass(60_000);
  assert.equal(page.sent.length, asked);
  assert.deepEqual(other, { end: true });
  assert.deepEqual([result.error, told.slice(1)], [undefined, ['broken']]);
});

it('a hidden tab closes its stream without a report, and opens a new one as soon as it is seen', async () => {
  const open = () => new Promise<Response>(() => undefined);
  page.show(false);
  await watch(open);
  assert.equal(page.sent.length, 0);
  page.show(true);
  await settled();
  assert.equal(page.sent.length, 1);
  page.show(false);
  await settled();
  assert.equal(page.sent[0]?.signal.aborted, true);
  await pass(60_000);
  assert.equal(page.sent.length, 1);
  page.answer = () => streamOf('cancelled');
  page.show(true);
  await settled();
  assert.deepEqual(told, ['cancelled']);
});

it('waiting for a hidden tab ends when it is aborted', async () => {
  const listening = countListeners();
  page.show(false);
  let isOver = false;
  void whenVisible(aborter.signal).then(() => (isOver = true));
  page.show(false);
  await settled();
  assert.ok(!isOver);
  aborter.abort();
  await settled();
  assert.ok(isOver);
  await whenVisible(aborter.signal);
  assert.equal(listening(), 0);
});
