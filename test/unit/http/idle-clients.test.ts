import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { closeIdleClients } from '../../../sidecar/http/idle-clients.js';
import type { Turns } from '../../../sidecar/http/turns.js';
import { nextTurn } from '../../../sidecar/shared/next-turn.js';

const PACE = { idleMs: 8000, bytesPerSecond: 1000 };
/** Between two looks. */
const LOOK_MS = 1000;

/** A server with one client in the middle of its upload, on a clock that only the test moves. */
function serverOf(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const told: string[] = [];
  const req = Object.assign(new EventEmitter(), {
    complete: false,
    readableLength: 0,
    isPaused: () => false,
  });
  req.on('timeout', () => told.push('too slow'));
  const answer = { req } as unknown as ServerResponse;
  const turns: Pick<Turns, 'answerOn'> = { answerOn: () => answer };
  const server = new EventEmitter();
  closeIdleClients(server as unknown as Server, turns as Turns, PACE);
  t.after(() => server.emit('close'));
  const socket = Object.assign(new EventEmitter(), { writableLength: 0, bytesRead: 0, bytesWritten: 0 });
  server.emit('connection', socket);
  return {
    told,
    /** Lets time pass in which the event loop did nothing, and then one look. */
    stall: async (ms: number) => {
      nowMs += ms;
      t.mock.timers.tick(LOOK_MS);
      await nextTurn();
      await nextTurn();
    },
  };
}

describe('a client that is watched', () => {
  it('a client that sends nothing for the whole time is told so', async (t) => {
    const { told, stall } = serverOf(t);
    // The first look finds what the client has to do.
    for (let look = 1; look <= 9; look += 1) await stall(LOOK_MS);
    assert.deepEqual(told, []);
    await stall(LOOK_MS);
    assert.deepEqual(told, ['too slow']);
  });

  it('a client is not blamed for time in which the gateway itself was busy', async (t) => {
    const { told, stall } = serverOf(t);
    await stall(LOOK_MS);
    for (let look = 1; look <= 4; look += 1) await stall(60_000);
    assert.deepEqual(told, []);
    await stall(LOOK_MS);
    assert.deepEqual(told, ['too slow']);
  });
});
