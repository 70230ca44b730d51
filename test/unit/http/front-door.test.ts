import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { createFrontDoor, type FrontDoor } from '../../../sidecar/http/front-door.js';
import { problem } from '../../../sidecar/http/problem-kinds.js';
import type { CalledBy } from '../../../sidecar/http/trusted-hosts.js';

const HOST = { host: 'gw' };

/** A door, and what becomes of one request at it. */
function knock(
  line: string,
  headers: Readonly<Record<string, string>> = HOST,
  { on = 'request', httpVersion = '1.1' }: { on?: keyof FrontDoor; httpVersion?: string } = {},
) {
  const did: string[] = [];
  const asked: (CalledBy | string | undefined)[] = [];
  const res = {
    shouldKeepAlive: true,
    writeContinue: () => did.push('continue'),
    writeHead: (status: number, fields: Readonly<Record<string, unknown>>) => {
      const isLast = fields['Connection'] === 'close' || !res.shouldKeepAlive;
      did.push(`${status}${isLast ? ' and close' : ''}`);
    },
    write: () => undefined,
    end: () => undefined,
  };
  const door = createFrontDoor({
    passThrough: (_req, _res, how) =>
      void did.push(`broker${how?.awaitsContinue === true ? ', continue is awaited' : ''}`),
    fastify: () => void did.push('fastify'),
    checkHost: (by) => {
      asked.push(by);
      return by.host === 'evil' ? problem('hostNotAllowed', 'no') : undefined;
    },
    checkLoop: (via) => {
      asked.push(via);
      return via === 'circle' ? problem('loopDetected', 'no') : undefined;
    },
    onRefused: (reason, _req, { status }) => did.push(`refused ${reason} ${status}`),
  });
  const [method = '', url = ''] = line.split(' ');
  const rawHeaders = Object.entries(headers).flat();
  const req = { method, url, headers, rawHeaders, httpVersion, complete: true };
  door[on](req as unknown as IncomingMessage, res as unknown as ServerResponse);
  return { did, asked };
}

const PURGE = 'DELETE /ngsi-ld/v1/entities?type=T';

describe('the front door', () => {
  it('the front door asks about the host with method, Host and Origin, and about loops with Via', () => {
    const headers = { host: 'gw:1', origin: 'http://o', referer: 'http://r', via: '1.1 x' };
    const { asked, did } = knock(PURGE, headers);
    assert.deepEqual(asked, [{ method: 'DELETE', host: 'gw:1', origin: 'http://o' }, '1.1 x']);
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
    it(`the front door refuses a request ${why}, tells of it once, and lets nobody else see it`, () => {
      assert.deepEqual(knock(line, headers).did, expected);
    });
  }

  it('the front door refuses a target that is too long where the gateway reads it, and lets the broker bound queries of its own', () => {
    const query = (start: string, chars: number) => start.padEnd(start.indexOf('/') + chars, 'q');
    for (const [line, chars, expected] of [
      ['GET /ngsi-ld/v1/entities?', 60_000, 'broker'],
      ['HEAD /ngsi-ld/v1/entities?', 60_000, 'broker'],
      ['POST /ngsi-ld/v1/entities?', 16_384, 'broker'],
      ['POST /ngsi-ld/v1/entities?', 16_385, 'refused length 414'],
      ['DELETE /ngsi-ld/v1/entities?', 16_384, 'fastify'],
      ['DELETE /ngsi-ld/v1/entities?', 16_385, 'refused length 414'],
      ['GET /api/v2/models?', 16_384, 'fastify'],
      ['GET /api/v2/models?', 16_385, 'refused length 414'],
      ['HEAD /api/v2/models?', 16_385, 'refused length 414'],
      ['GET /ngsi-ld/v1/', 8193, 'refused length 414'],
    ] as const)
      assert.equal(knock(query(line, chars)).did[0], expected, `${line} ${chars}`);
  });

  it('a client that awaits 100 Continue gets it where the gateway reads the body, and loses its connection where it is refused', () => {
    const on = 'checkContinue';
    assert.deepEqual(knock('POST /api/v2/domains', HOST, { on }).did, ['continue', 'fastify']);
    assert.deepEqual(knock('POST /ngsi-ld/v1/entities', HOST, { on }).did, ['broker, continue is awaited']);
    assert.deepEqual(knock('POST /ngsi-ld/v1/entities').did, ['broker']);
    assert.deepEqual(knock(PURGE, { host: 'evil' }, { on }).did, ['refused host 403', '403 and close']);
  });

  it('any other expectation is refused and ends the connection, whatever it is for', () => {
    for (const line of [PURGE, 'GET /health/live', 'POST /ngsi-ld/v1/entities'])
      assert.deepEqual(knock(line, HOST, { on: 'checkExpectation' }).did, [
        'refused expectation 417',
        '417 and close',
      ]);
  });

  it('a refused request ends its connection where nobody knows its end, and keeps it elsewhere', () => {
    const headers = { ...HOST, 'transfer-encoding': 'chunked' };
    for (const line of [PURGE, 'POST /ngsi-ld/v1/entities', 'DELETE /ngsi-ld/v1//entities']) {
      assert.deepEqual(knock(line, headers, { httpVersion: '1.0' }).did, [
        'refused fields 400',
        '400 and close',
      ]);
    }
    assert.deepEqual(knock(PURGE, { host: 'evil' }, { httpVersion: '1.0' }).did.at(-1), '403');
  });
});
