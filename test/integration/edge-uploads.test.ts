import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { closeAll, connect, startRawBroker, statusOf, type Client } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

/** More bytes than the system keeps for a connection whose reader does not read. */
const SIZE = 12 * 1024 * 1024;
const WARN = 40;

/** Sends a whole request before reading any of the answer, as blocking clients do. */
async function sendThenRead(client: Client, text: string): Promise<string> {
  const { socket } = client;
  socket.pause();
  await new Promise<void>((resolve) => socket.write(text, 'latin1', () => resolve()));
  socket.resume();
  return client.closed();
}

const cases = [
  ['a body over the limit', 'POST /api/v2/domains', 413],
  ['a body over the limit for an unknown path', 'POST /nowhere', 413],
  ['a body of a purge', 'DELETE /ngsi-ld/v1/entities?type=Car', 400],
  ['a body of a read', 'GET /health/live', 200],
  ['a body of an ambiguous DELETE', 'DELETE /ngsi-ld/v1//entities', 400],
  ['a body of an unaccepted media type', 'PUT /api/v2/contexts/c', 415],
  ['a body that the broker refuses', 'POST /ngsi-ld/v1/entities', 413],
] as const;
describe('early answers', () => {
  let gateway: TestGateway;
  before(async () => {
    const broker = await startRawBroker((socket) => {
      socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
      return true;
    });
    gateway = await startTestGateway({ BROKER_URL: broker.url.href });
  });

  for (const connection of ['close', 'keep-alive'] as const) {
    for (const [what, line, status] of cases) {
      it(`an early answer (${what}, Connection: ${connection}) reaches a client that reads only after it has sent everything`, async () => {
        const type = line.startsWith('PUT') ? 'text/plain' : 'application/json';
        const head = [line + ' HTTP/1.1', 'Host: g', `Content-Type: ${type}`, `Connection: ${connection}`];
        for (const [framing, before, behind] of [
          [`Content-Length: ${SIZE}`, '', ''],
          ['Transfer-Encoding: chunked', `${SIZE.toString(16)}\r\n`, '\r\n0\r\n\r\n'],
        ] as const) {
          const text = [...head, framing, '', before + 'x'.repeat(SIZE) + behind];
          if (connection === 'keep-alive')
            text.push('GET /health/live HTTP/1.1', 'Host: g', 'Connection: close', '', '');
          const answer = await sendThenRead(await connect(gateway.port), text.join('\r\n'));
          assert.equal(statusOf(answer), status, answer.slice(0, 200));
          if (status !== 200 && !line.startsWith('POST /ngsi-ld'))
            assert.match(answer, /application\/problem\+json/);
          assert.equal(/^connection: close\r$/im.test(answer), true);
          const ups = (line.startsWith('GET') ? 1 : 0) + (connection === 'close' ? 0 : 1);
          assert.equal(answer.split('"up"').length - 1, ups);
        }
      });
    }
  }
});

it('clients that disconnect while they send their bodies cause no error and no stack in the log', async () => {
  const broker = await startRecordingBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'debug' });
  for (const [line, type] of [
    ['POST /api/v2/domains', 'application/json'],
    ['POST /api/v2/validate/D/M', 'application/json'],
    ['POST /api/v2/domains', 'text/plain'],
    ['DELETE /ngsi-ld/v1/entities?type=Car', 'application/json'],
    ['POST /ngsi-ld/v1/entities', 'application/json'],
    ['POST /nowhere', 'application/json'],
  ] as const)
    for (const [framing, start] of [
      ['Content-Length: 100000', '{"name"'],
      ['Transfer-Encoding: chunked', '10\r\n{"name"'],
    ] as const)
      for (const end of ['destroy', 'resetAndDestroy', 'end'] as const)
        for (const part of ['', start]) {
          const client = await connect(gateway.port);
          client.send(`${line} HTTP/1.1\r\nHost: g\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n${part}`);
          await gateway.send('GET', '/health/live');
          client.socket[end]();
          await client.closed();
        }
  // The close ends only after every request has ended.
  await gateway.gateway.close();
  assert.deepEqual(
    gateway.log.lines.filter(({ level }) => level >= WARN),
    [],
  );
  assert.doesNotMatch(gateway.log.text, /"stack"/);
});
