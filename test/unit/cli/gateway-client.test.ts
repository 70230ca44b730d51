import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { GatewayClient } from '../../../sidecar/cli/gateway-client.js';
import { createTestClock } from '../../support/purge-harness.js';

/** A client of a gateway that is a function of the number of the request, from 1. */
function clientOf(t: TestContext, answer: (nth: number) => Response) {
  const heads: Headers[] = [];
  t.mock.method(globalThis, 'fetch', async (_url: string, { headers }: RequestInit) => {
    heads.push(new Headers(headers));
    return answer(heads.length);
  });
  const clock = createTestClock();
  const url = new URL('http://gateway.test/');
  const client = new GatewayClient({ url, clock, token: undefined, authorization: undefined });
  return { client, clock, heads };
}

const eventOf = (n: number) => new Response(`id: ${String(n)}\ndata: ${String(n)}\n\n`);
const problem = (status: number) => new Response(JSON.stringify({ detail: 'Later.' }), { status });

async function eventsOf(client: GatewayClient, last: number): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of client.events('/events', (one) => one === last)) events.push(event);
  return events;
}

describe('the events of a gateway', () => {
  it('a stream of events is resumed as often as it breaks off, as long as each try brings some', async (t) => {
    const { client, clock, heads } = clientOf(t, eventOf);
    assert.deepEqual(
      await eventsOf(client, 30),
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
    assert.equal(heads.at(-1)?.get('last-event-id'), '29');
    assert.deepEqual(new Set(clock.sleeps), new Set([1000]));
  });

  it('a stream of events is given up when ten more tries in a row bring none', async (t) => {
    const { client, heads } = clientOf(t, (nth) => (nth === 1 ? eventOf(1) : new Response('')));
    await assert.rejects(eventsOf(client, 2), { exitCode: EXIT.failed });
    assert.equal(heads.length, 11);
  });

  it('a stream of events is resumed after answers that may pass, and not after a refusal', async (t) => {
    for (const status of [408, 429, 500, 503]) {
      const { client } = clientOf(t, (nth) => (nth === 1 ? problem(status) : eventOf(1)));
      assert.deepEqual(await eventsOf(client, 1), [1], String(status));
    }
    for (const status of [301, 401, 404, 501]) {
      const { client, heads } = clientOf(t, () => problem(status));
      await assert.rejects(eventsOf(client, 1), { exitCode: EXIT.refused }, String(status));
      assert.equal(heads.length, 1);
    }
  });
});
