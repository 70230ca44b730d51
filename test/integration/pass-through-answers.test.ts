import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import {
  bodyOf,
  closeAll,
  exchange,
  headLines,
  request,
  startGateway,
  startRawBroker,
} from './pass-through-wire.js';

after(closeAll);

const answered = async (answer: string, text = request('GET /ngsi-ld/v1/x')) => {
  const broker = await startRawBroker((socket) => {
    socket.end(answer, 'latin1');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const got = await exchange(gateway.port, text);
  return got;
};

it('status, reason, header names, order and repetitions of an answer reach the client unchanged', async () => {
  const headers = [
    'Server: broker/1.0',
    'Date: Thu, 01 Jan 1970 00:00:00 GMT',
    'set-cookie: a=b',
    'Set-Cookie: c=d',
    'NGSILD-Results-Count: 7',
    'Link: <a>; rel="next"',
    'Link: <b>; rel="prev"',
    'X-Latin: caf\xe9',
    'Content-Encoding: gzip',
    'Content-Length: 4',
  ];
  const got = await answered(['HTTP/1.1 299 Quite Good', ...headers, '', '\x1f\x8b\0\xff'].join('\r\n'));
  assert.deepEqual(headLines(got), ['HTTP/1.1 299 Quite Good', ...headers, 'Connection: close']);
  assert.equal(bodyOf(got), '\x1f\x8b\0\xff');
});

it('hop-by-hop headers and headers named by Connection are not forwarded, except those that Connection must not name', async () => {
  const got = await answered(
    'HTTP/1.1 200 OK\r\nConnection: close, X-Hop, Set-Cookie\r\nX-Hop: 1\r\nSet-Cookie: a=b\r\nKeep-Alive: timeout=9\r\n' +
      'Proxy-Authenticate: x\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: 1\r\n\r\n',
  );
  assert.doesNotMatch(got, /x-hop|keep-alive|proxy-|trailer|\r\nX: 1/i);
  assert.match(got, /\r\nSet-Cookie: a=b\r\n/);
  assert.equal(bodyOf(got), '1\r\na\r\n0\r\n\r\n');
});

it('an answer without Date is given one (RFC 9110, section 6.6.1)', async () => {
  assert.match(await answered('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), /\r\nDate: /);
});

it('an answer with an empty or unprintable reason phrase is forwarded with an empty one', async () => {
  assert.match(await answered('HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n'), /^HTTP\/1\.1 200 \r\n/);
  assert.match(
    await answered('HTTP/1.1 200 \xe2\x82\xac\r\nContent-Length: 0\r\n\r\n'),
    /^HTTP\/1\.1 200 \r\n/,
  );
});

it('an answer to HEAD keeps Content-Length and has no body', async () => {
  const got = await answered('HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n', request('HEAD /ngsi-ld/v1/x'));
  assert.match(got, /\r\nContent-Length: 123\r\n/);
  assert.equal(bodyOf(got), '');
});

for (const status of [204, 304]) {
  it(`a ${status} is forwarded without body and framing`, async () => {
    const got = await answered(`HTTP/1.1 ${status} X\r\nETag: "a"\r\n\r\n`);
    assert.match(got, new RegExp(`^HTTP/1\\.1 ${status} X\r\nETag: "a"\r\n`));
    assert.doesNotMatch(got, /transfer-encoding|content-length/i);
    assert.equal(bodyOf(got), '');
  });
}

it('a 304 keeps the Content-Length of the representation', async () => {
  const got = await answered('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n');
  assert.match(got, /\r\nContent-Length: 9\r\n/);
  assert.equal(bodyOf(got), '');
});

it('informational answers are not forwarded', async () => {
  const got = await answered(
    'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]',
  );
  assert.match(got, /^HTTP\/1\.1 200 OK\r\n/);
  assert.doesNotMatch(got, /Link/);
});

it('a 100 Continue that nobody asked for is answered with 502, since the HTTP client breaks its connection', async () => {
  const got = await answered('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
  assert.match(got, /^HTTP\/1\.1 502 Bad Gateway\r\n/);
  assert.match(bodyOf(got), /broker-unreachable/);
});

it('an answer that ends with the connection is forwarded in chunks', async () => {
  const got = await answered('HTTP/1.1 200 OK\r\n\r\nabc');
  assert.match(got, /\r\nTransfer-Encoding: chunked\r\n/);
  assert.equal(bodyOf(got), '3\r\nabc\r\n0\r\n\r\n');
});

it('an HTTP/1.0 client receives no chunks', async () => {
  const got = await answered(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'GET /ngsi-ld/v1/x HTTP/1.0\r\n\r\n',
  );
  assert.doesNotMatch(got, /transfer-encoding/i);
  assert.equal(bodyOf(got), 'abc');
});
