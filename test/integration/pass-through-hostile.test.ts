import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import {
  bodyOf,
  closeAll,
  exchange,
  problemOf,
  request,
  startFixedBroker,
  startGateway,
  startRawBroker,
  statusOf,
} from './pass-through-wire.js';

after(closeAll);

const refused = async (text: string) => {
  const broker = await startFixedBroker();
  const gateway = await startGateway(broker.url);
  const answer = await exchange(gateway.port, text);
  assert.deepEqual(broker.received, [], 'nothing may reach the broker');
  return answer;
};
const smuggled = '0\r\n\r\nDELETE /ngsi-ld/v1/entities HTTP/1.1\r\nHost: x\r\n\r\n';

it('a request with Content-Length and Transfer-Encoding never reaches the broker', async () => {
  const headers = [`Content-Length: ${smuggled.length}`, 'Transfer-Encoding: chunked'];
  assert.equal(statusOf(await refused(request('POST /ngsi-ld/v1/x', headers, smuggled))), 400);
});

it('a request with two Content-Lengths never reaches the broker', async () => {
  const headers = ['Content-Length: 3', 'Content-Length: 4'];
  assert.equal(statusOf(await refused(request('POST /ngsi-ld/v1/x', headers, 'abcd'))), 400);
});

it('a request whose target is in neither origin nor absolute form never reaches the broker', async () => {
  const answer = await refused(request('OPTIONS *'));
  assert.equal(statusOf(answer), 400);
  assert.equal(problemOf(answer).type, 'https://uri.etsi.org/ngsi-ld/errors/InvalidRequest');
});

it('bytes after a body are a request of their own, and not part of the first', async () => {
  const broker = await startFixedBroker();
  const gateway = await startGateway(broker.url, { agent: { pipelining: 0 } });
  const second = request('GET /ngsi-ld/v1/second');
  await exchange(
    gateway.port,
    `POST /ngsi-ld/v1/x HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc${second}`,
  );
  assert.equal(broker.received.length, 2);
  assert.equal(bodyOf(broker.received[0] ?? ''), 'abc');
  assert.match(broker.received[1] ?? '', /^GET \/ngsi-ld\/v1\/second /);
});

it('Upgrade is ignored: the request is forwarded without it, and nothing is tunnelled', async () => {
  const broker = await startFixedBroker();
  const gateway = await startGateway(broker.url);
  const headers = ['Upgrade: websocket', 'Sec-WebSocket-Key: x'];
  assert.equal(statusOf(await exchange(gateway.port, request('GET /ngsi-ld/v1/x', headers))), 200);
  assert.doesNotMatch(broker.received.join(''), /\r\nupgrade:/i);
});

const answers = {
  'not HTTP': 'SSH-2.0-OpenSSH_9\r\n\r\n',
  'two framings': 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'an unknown transfer coding': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'a control character in a header': 'HTTP/1.1 200 OK\r\nX-Evil: a\x01b\r\nContent-Length: 0\r\n\r\n',
  'an impossible status': 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n',
  'an unrequested upgrade': 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  'an endless head': `HTTP/1.1 200 OK\r\n${`X-Evil: ${'a'.repeat(1000)}\r\n`.repeat(100)}\r\n`,
};
/** Answers that undici reports as a broken connection. */
const IS_LIKE_NONE: ReadonlySet<string> = new Set(['an impossible status', 'an unrequested upgrade']);
for (const [what, answer] of Object.entries(answers)) {
  it(`an invalid answer (${what}) becomes 502, and nothing of it reaches the client`, async () => {
    const broker = await startRawBroker((socket) => {
      socket.end(answer, 'latin1');
      return true;
    });
    const gateway = await startGateway(broker.url);
    const got = await exchange(gateway.port, request('GET /ngsi-ld/v1/x'));
    assert.equal(statusOf(got), 502);
    assert.equal(problemOf(got).status, 502);
    assert.equal(
      problemOf(got).type,
      `urn:ngsi-ld-gateway:problem:broker-${IS_LIKE_NONE.has(what) ? 'unreachable' : 'reply-unusable'}`,
    );
    assert.doesNotMatch(got, /X-Evil|SSH/);
    assert.equal(gateway.failures.length, 1);
  });
}

it('bytes that a broker sends after its answer are dropped', async () => {
  const broker = await startRawBroker((socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]HTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 4\r\n\r\nevil',
    );
    return true;
  });
  const gateway = await startGateway(broker.url);
  for (let count = 0; count < 3; count += 1) {
    assert.equal(bodyOf(await exchange(gateway.port, request('GET /ngsi-ld/v1/x'))), '[]');
  }
});
