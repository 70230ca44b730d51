import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { createCapabilities } from '../../../sidecar/jobs/configured-kinds.js';
import { CapabilitySync } from '../../../sidecar/jobs/capability-sync.js';
import { openDatabase } from '../../../sidecar/store/open-database.js';
import { SqlBrokerNotes } from '../../../sidecar/store/sql-broker-notes.js';
import { SqliteSession } from '../../../sidecar/store/sqlite-session.js';
import { HandClock } from '../../support/hand-clock.js';

const START = 1_700_000_000_000;
const MINUTE_MS = 60_000;

/** A store that several processes share, whose clock is an hour ahead of theirs; time passes only on request. */
function sharedStore() {
  const time = { nowMs: START };
  const clock = {
    now: () => time.nowMs + 60 * MINUTE_MS,
    monotonicMs: () => time.nowMs,
    sleep: async () => {},
  };
  const notes = new SqlBrokerNotes(new SqliteSession(openDatabase(':memory:'), clock));
  const state = { isAway: false, isFull: false, reads: 0, writes: 0, answerMs: 0 };
  const working =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>, what: 'reads' | 'writes') =>
    async (...given: Given) => {
      state[what] += 1;
      if (state.isAway || (state.isFull && what === 'writes')) throw new Error('away');
      const result = await work(...given);
      time.nowMs += state.answerMs;
      return result;
    };
  const store = {
    read: working((broker: string, withinMs: number) => notes.read(broker, withinMs), 'reads'),
    write: working((...given: Parameters<SqlBrokerNotes['write']>) => notes.write(...given), 'writes'),
  };
  return { time, state, store, notes };
}

const exchanges: CapabilitySync[] = [];
afterEach(() => {
  for (const exchange of exchanges.splice(0)) exchange.stop();
});

let names = 0;

/** A process at a broker, which has read the notes once. Its pauses do not depend on the time of day. */
async function processAt(
  { time, store }: ReturnType<typeof sharedStore>,
  { broker = 'http://orion', skew = { ms: 0 } } = {},
) {
  const clock = { now: () => time.nowMs + skew.ms };
  const capabilities = createCapabilities(clock);
  const writer = `writer ${String((names += 1))}`;
  const pauses = new HandClock();
  let taken = 0;
  const exchange = new CapabilitySync({
    store,
    broker,
    writer,
    capabilities,
    pauses,
    clock,
    onReceived: () => (taken += 1),
  });
  exchange.start();
  exchanges.push(exchange);
  /** Lets pauses pass, while the time of day stands still. */
  const go = (ms = 10_000) => pauses.pass(ms);
  await go(0);
  return {
    writer,
    exchange,
    go,
    entities: capabilities.entities,
    temporal: capabilities.temporal,
    get taken() {
      return taken;
    },
    /** Pauses that have not ended. */
    get pauses() {
      return pauses.sleepers;
    },
  };
}

it('a filter that one process has proven counts as proven in the others for the rest of its hour', async () => {
  const shared = sharedStore();
  const [one, two] = [await processAt(shared), await processAt(shared)];
  shared.time.nowMs += MINUTE_MS;
  one.entities.setHonoured({ name: 'q', isShared: true });
  one.entities.learn('page-max', 100);
  one.temporal.learn('collection-end', '/');
  await one.go();
  await two.go();
  assert.deepEqual(
    [two.entities.isHonoured('q'), two.entities.get('page-max'), two.temporal.get('collection-end')],
    [true, 100, '/'],
  );
  assert.equal(two.temporal.isHonoured('q'), false);
  assert.equal(two.taken, 1);
  shared.time.nowMs += 60 * MINUTE_MS - 1;
  assert.equal(two.entities.isHonoured('q'), true);
  shared.time.nowMs += 1;
  assert.deepEqual([two.entities.isHonoured('q'), two.entities.get('page-max')], [false, undefined]);
  await two.go();
  assert.equal(two.entities.isHonoured('q'), false);
});

it('a new process takes over older restrictions, but no older proof', async () => {
  const shared = sharedStore();
  const one = await processAt(shared);
  shared.time.nowMs += MINUTE_MS;
  one.entities.setHonoured({ name: 'q', isShared: true });
  one.entities.learn('collection-end', '/');
  one.entities.learn('no-batch', true);
  await one.go();
  shared.time.nowMs += MINUTE_MS;
  const two = await processAt(shared);
  await two.go();
  assert.deepEqual([two.entities.isHonoured('q'), two.entities.get('collection-end')], [false, undefined]);
  assert.equal(two.entities.get('no-batch'), true);
  shared.time.nowMs += MINUTE_MS;
  one.entities.setHonoured({ name: 'type', isShared: true });
  await one.go();
  await two.go();
  assert.deepEqual([two.entities.isHonoured('q'), two.entities.isHonoured('type')], [false, true]);
});

it('a proof from before the start of a process does not count there once its clock is put right', async () => {
  for (const ms of [-10, 10, -60, 60].map((minutes) => minutes * MINUTE_MS)) {
    const shared = sharedStore();
    const one = await processAt(shared);
    shared.time.nowMs += MINUTE_MS;
    one.entities.setHonoured({ name: 'old', isShared: true });
    await one.go();
    shared.time.nowMs += 5 * MINUTE_MS;
    const skew = { ms };
    const two = await processAt(shared, { skew });
    shared.time.nowMs += MINUTE_MS;
    skew.ms = 0;
    one.entities.setHonoured({ name: 'new', isShared: true });
    await one.go();
    await two.go();
    const known = ['old', 'new'].map((name) => two.entities.isHonoured(name));
    assert.deepEqual(known, [false, true], String(ms));
  }
});

it('a filter that one process sees ignored is no longer proven anywhere, and an older note does not restore its proof', async () => {
  const shared = sharedStore();
  const [one, two, three] = [await processAt(shared), await processAt(shared), await processAt(shared)];
  shared.time.nowMs += MINUTE_MS;
  one.entities.setHonoured({ name: 'q', isShared: true });
  await one.go();
  await two.go();
  assert.equal(two.entities.isHonoured('q'), true);
  shared.time.nowMs += MINUTE_MS;
  two.entities.forgetProofs();
  await two.go();
  assert.equal(two.entities.isHonoured('q'), false);
  await three.go();
  assert.equal(three.entities.isHonoured('q'), false);
  await one.go();
  assert.equal(one.entities.isHonoured('q'), false);
  shared.time.nowMs += MINUTE_MS;
  three.entities.setHonoured({ name: 'q', isShared: true });
  await three.go();
  await two.go();
  assert.equal(two.entities.isHonoured('q'), true, 'proven since');
});

it('processes at different brokers learn nothing from each other', async () => {
  const shared = sharedStore();
  const [one, two] = [await processAt(shared), await processAt(shared, { broker: 'http://scorpio' })];
  shared.time.nowMs += MINUTE_MS;
  one.entities.setHonoured({ name: 'q', isShared: true });
  one.entities.learn('page-max', 5);
  await one.go();
  await two.go();
  assert.deepEqual([two.entities.isHonoured('q'), two.entities.get('page-max')], [false, undefined]);
});

it('a malformed note is skipped, and the others are read', async () => {
  const shared = sharedStore();
  const [one, two] = [await processAt(shared), await processAt(shared)];
  shared.time.nowMs += MINUTE_MS;
  one.entities.learn('page-max', 100);
  await one.go();
  await shared.notes.write(
    'http://orion',
    { writer: 'x', text: '{"format":1,"entities":{"page-max":[0,1]}}' },
    MINUTE_MS,
  );
  await two.go();
  assert.equal(two.entities.get('page-max'), 100);
});

it('facts learnt together are one write, at most one write a second follows, and older facts are not written', async () => {
  const shared = sharedStore();
  const one = await processAt(shared);
  await one.go();
  for (const filter of ['q', 'type', 'attrs']) one.entities.setHonoured({ name: filter, isShared: true });
  await one.go(100);
  assert.equal(shared.state.writes, 1);
  for (const filter of ['q', 'type', 'attrs']) one.entities.setHonoured({ name: filter, isShared: true });
  await one.go(900);
  assert.equal(shared.state.writes, 1);
  await one.go(200);
  assert.equal(shared.state.writes, 2);
  await one.go(60_000);
  assert.equal(shared.state.writes, 2);
});

it('a process reads the notes at once when another process wrote one, but not after its own', async () => {
  const shared = sharedStore();
  const [one, two] = [await processAt(shared), await processAt(shared)];
  await one.go(2000);
  await two.go(2000);
  shared.time.nowMs += MINUTE_MS;
  one.entities.learn('page-max', 100);
  await one.go(100);
  await two.go(100);
  const before = shared.state.reads;
  two.exchange.onNotice(two.writer);
  await two.go(100);
  assert.equal(shared.state.reads, before);
  two.exchange.onNotice(one.writer);
  await two.go(100);
  assert.deepEqual([shared.state.reads, two.entities.get('page-max')], [before + 1, 100]);
});

it('a failing store does not stop purges, and gets the notes when it is available again', async () => {
  for (const fault of ['isAway', 'isFull'] as const) {
    const shared = sharedStore();
    shared.state[fault] = true;
    const one = await processAt(shared);
    one.entities.learn('page-max', 100);
    await one.go(20_000);
    assert.equal(one.entities.get('page-max'), 100);
    shared.state[fault] = false;
    await one.go(10_000);
    assert.equal((await shared.notes.read('http://orion', MINUTE_MS)).notes.length, 1);
  }
});

it('a proof of another process does not last longer because the store was slow to answer', async () => {
  const shared = sharedStore();
  const [one, two] = [await processAt(shared), await processAt(shared)];
  shared.time.nowMs += MINUTE_MS;
  const provenMs = shared.time.nowMs;
  one.entities.setHonoured({ name: 'q', isShared: true });
  await one.go();
  shared.state.answerMs = 500;
  await two.go();
  shared.state.answerMs = 0;
  shared.time.nowMs = provenMs + 60 * MINUTE_MS - 1;
  assert.equal(two.entities.isHonoured('q'), true);
  shared.time.nowMs += 1;
  assert.equal(two.entities.isHonoured('q'), false);
});

it('a stopped exchange of notes neither reads nor writes', async () => {
  const shared = sharedStore();
  const one = await processAt(shared);
  await one.go();
  one.exchange.stop();
  const { reads } = shared.state;
  one.entities.learn('page-max', 100);
  one.exchange.onNotice('another');
  await one.go(60_000);
  assert.deepEqual([shared.state.reads, shared.state.writes], [reads, 0]);
});

it('stopping an exchange leaves no pause behind, at whatever time', async () => {
  for (const goneMs of [0, 500, 1500, 3000]) {
    const one = await processAt(sharedStore());
    await one.go(goneMs);
    one.exchange.stop();
    await one.go(0);
    assert.equal(one.pauses, 0, `${String(goneMs)} ms`);
  }
});
