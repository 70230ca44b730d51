import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it } from 'node:test';
import { createFrontDoor } from '../../../sidecar/http/front-door.js';
import { problem } from '../../../sidecar/http/refused.js';

const HOST = { host: 'gw' };

/** A front door, and the result of one request. */
function knock(line: string, headers: Readonly<Record<string, string>>) {
  const did: string[] = [];
  const asked: unknown[] = [];
  const res = {
    writeHead: (status: number) => did.push(String(status)),
    write: () => undefined,
    end: () => undefined,
  };
  const door = createFrontDoor({
    passThrough: () => void did.push('broker'),
    fastify: () => void did.push('fastify'),
    checkHost: ({ method: by, headers: { host, origin } }) => {
      asked.push([by, host, origin]);
      return host === 'evil' ? problem('hostNotAllowed', 'no') : undefined;
    },
    checkLoop: ({ headers: { via } }) => {
      asked.push(via);
      return via === 'circle' ? problem('loopDetected', 'no') : undefined;
    },
    onRefused: (reason, _req, { status }) => did.push(`refused ${reason} ${status}`),
  });
  const [method = '', url = ''] = line.split(' ');
  const rawHeaders = Object.entries(headers).flat();
  const req = { method, url, headers, rawHeaders, httpVersion: '1.1', complete: true };
  door.request(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  return { did, asked };
}

const PURGE = 'DELETE /ngsi-ld/v1/entities?type=T';

it('the front door accepts five hundred header fields, and not one more', () => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, '1']));
  assert.deepEqual(knock(PURGE, { ...HOST, ...fields(499) }).did, ['fastify']);
  assert.deepEqual(knock(PURGE, { ...HOST, ...fields(500) }).did, ['refused fields 431', '431']);
});

it('the front door checks the host with method, Host and Origin, and loops with Via', () => {
  const headers = { host: 'gw:1', origin: 'http://o', referer: 'http://r', via: '1.1 x' };
  const { asked, did } = knock(PURGE, headers);
  assert.deepEqual(asked, [['DELETE', 'gw:1', 'http://o'], '1.1 x']);
  assert.deepEqual(did, ['fastify']);
});

for (const [why, line, headers, expected] of [
  ['for a foreign host', PURGE, { host: 'evil' }, ['refused host 403', '403']],
  ['in a circle', 'GET /ngsi-ld/v1/x', { ...HOST, via: 'circle' }, ['refused loop 508', '508']],
  ['without a Host', PURGE, {}, ['refused fields 400', '400']],
  [
    'whose path is no collection',
    'DELETE /ngsi-ld/v1//entities',
    HOST,
    ['refused inexact-collection 400', '400'],
  ],
] as const) {
  it(`the front door refuses a request ${why}, reports it once, and shows it to no other handler`, () => {
    assert.deepEqual(knock(line, headers).did, expected);
  });
}
