import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Client } from 'pg';
import { PostgresListener } from '../../../sidecar/store/postgres-store.js';

const settle = async () => {
  for (let index = 0; index < 10; index += 1) await turn();
};

/** A listener whose connections reach no server: the test decides their outcome. */
function listenerOf(t: TestContext, isAway = false) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clients: Client[] = [];
  const asked: string[] = [];
  const state = { isAway, isSilent: false };
  t.mock.method(Client.prototype, 'connect', async function connect(this: Client) {
    clients.push(this);
    if (state.isAway) throw new Error('away');
  });
  t.mock.method(Client.prototype, 'query', async (text: string) => {
    asked.push(text);
    if (state.isSilent) throw new Error('Query read timeout');
  });
  const end = t.mock.method(Client.prototype, 'end', async function end(this: Client) {
    this.emit('end');
  });
  const notices: unknown[] = [];
  const listener = new PostgresListener({}, (notice) => notices.push(notice));
  const pass = async (ms: number) => {
    await settle();
    t.mock.timers.tick(ms);
    await settle();
  };
  return { listener, clients, asked, state, notices, pass, ends: () => end.mock.callCount() };
}

it('each kind of notice has the id of the job it is about, and other payloads are ignored', async (t) => {
  const { listener, clients, asked, notices, pass } = listenerOf(t);
  await pass(0);
  assert.deepEqual(asked, ['LISTEN ngsi_ld_gateway_job']);
  for (const payload of [
    'waiting a',
    'request b c',
    'record d',
    'learnt one',
    'other x',
    'waiting',
    'waiting ',
    '',
    undefined,
  ])
    clients[0]?.emit('notification', { channel: 'ngsi_ld_gateway_job', processId: 1, payload });
  assert.deepEqual(notices, [
    { what: 'waiting', id: 'a' },
    { what: 'request', id: 'b c' },
    { what: 'record', id: 'd' },
  ]);
  await listener.close();
});

it('a connection that breaks is made again after a second', async (t) => {
  const { listener, clients, asked, pass } = listenerOf(t);
  await pass(0);
  clients[0]?.emit('error', new Error('reset'));
  clients[0]?.emit('end');
  await pass(999);
  assert.equal(clients.length, 1);
  await pass(1);
  assert.deepEqual([clients.length, asked.length], [2, 2]);
  clients[0]?.emit('end');
  await pass(5000);
  assert.equal(clients.length, 2, 'the end of an earlier connection is old news');
  await listener.close();
});

it('an unavailable server is tried again every second, and each failed attempt is closed', async (t) => {
  const { listener, clients, state, pass, ends } = listenerOf(t, true);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await pass(attempt === 1 ? 0 : 1000);
    assert.deepEqual([clients.length, ends()], [attempt, attempt]);
  }
  state.isAway = false;
  await pass(1000);
  assert.deepEqual([clients.length, ends()], [4, 3]);
  await listener.close();
});

it('a connection is checked every half minute, and replaced if it has broken silently', async (t) => {
  const { listener, clients, asked, state, pass } = listenerOf(t);
  await pass(0);
  for (let round = 1; round <= 2; round += 1) {
    await pass(29_999);
    assert.equal(asked.length, round);
    await pass(1);
    assert.deepEqual([asked.length, asked.at(-1)], [1 + round, 'SELECT 1']);
  }
  state.isSilent = true;
  await pass(30_000);
  state.isSilent = false;
  await pass(1000);
  assert.deepEqual([clients.length, asked.at(-1)], [2, 'LISTEN ngsi_ld_gateway_job']);
  await listener.close();
});

it('a closed listener ends its connection, and makes no other', async (t) => {
  const { listener, clients, asked, pass, ends } = listenerOf(t);
  await pass(0);
  await listener.close();
  assert.equal(ends(), 1);
  await pass(60_000);
  assert.deepEqual([clients.length, asked.length], [1, 1]);
});

it('a listener that is closed while the server is unavailable does not try again', async (t) => {
  const { listener, clients, pass } = listenerOf(t, true);
  await pass(0);
  await listener.close();
  await pass(60_000);
  assert.equal(clients.length, 1);
});
