import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { it } from 'node:test';
import { PacedRequest } from '../../../sidecar/http/request-pipeline.js';
import { listening } from '../../support/listening.js';

it('a body of very small chunks is read a little at a time, and only one such body in a turn', async (t) => {
  const CHUNKS = 40_000;
  let turn = 0;
  const chunksIn = new Map<number, Map<unknown, number>>();
  const server = createServer({ IncomingMessage: PacedRequest }, (req, res) => {
    let received = 0;
    req.on('data', (chunk: Buffer) => {
      received += chunk.length;
      const inTurn = chunksIn.get(turn) ?? new Map<unknown, number>();
      chunksIn.set(turn, inTurn.set(req, (inTurn.get(req) ?? 0) + 1));
    });
    req.once('end', () => res.end(String(received)));
  });
  const { port, close } = await listening(server);
  t.after(close);
  const count = (): void => {
    turn += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  t.after(() => clearImmediate(timer));

  const answers = [1, 2, 3].map(async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(`${'1\r\nx\r\n'.repeat(CHUNKS)}0\r\n\r\n`);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'end');
    return answer;
  });
  for (const answer of await Promise.all(answers)) assert.ok(answer.endsWith(`\r\n\r\n${CHUNKS}`), answer);

  const turns = [...chunksIn.values()].map((inTurn) => [...inTurn.values()]);
  // Node.js reads 64 KiB at once: 11,000 chunks.
  assert.ok(Math.max(...turns.flat()) < 12_000, `${Math.max(...turns.flat())} chunks in a turn`);
  // The first chunks of each body come before it is known how small they are.
  const shared = turns.filter((counts) => counts.filter((chunks) => chunks > 256).length > 1);
  assert.ok(shared.length <= 3, `${shared.length} turns with chunks of several bodies`);
});
