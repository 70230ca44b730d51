import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { createForwardedHeaders } from '../../../sidecar/http/forward-headers.js';

interface Asked {
  readonly httpVersion?: string;
  readonly encrypted?: boolean;
  readonly address?: string | undefined;
}

const forwarded = createForwardedHeaders(['x-gateway-token', 'x-purge-policy'], 'me');

/** The fields that the broker gets for a request with these fields. */
function fieldsOf(raw: readonly string[], { httpVersion = '1.1', encrypted = false, ...rest }: Asked = {}) {
  const address = 'address' in rest ? rest.address : '10.0.0.9';
  const at = raw.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  const req = {
    rawHeaders: raw,
    httpVersion,
    headers: at === -1 ? {} : { host: raw[at + 1] },
    socket: { remoteAddress: address, ...(encrypted ? { encrypted } : {}) },
  };
  const fields = forwarded(req as unknown as IncomingMessage);
  return Array.from({ length: fields.length / 2 }, (_, n) => [fields[2 * n], fields[2 * n + 1]]);
}

it('the broker is told the version of HTTP and the encryption that the client used', () => {
  const fields = new Map(fieldsOf([], { httpVersion: '1.0', encrypted: true }) as [string, string][]);
  assert.equal(fields.get('Via'), '1.0 me');
  assert.equal(fields.get('X-Forwarded-Proto'), 'https');
  assert.equal(fields.has('X-Forwarded-Host'), false);
});

it('fields of a proxy in front about host and protocol are kept, and its lists are extended in their last line', () => {
  const raw = [
    'x-forwarded-host',
    'public',
    'X-FORWARDED-PROTO',
    'https',
    'x-forwarded-for',
    '1.1.1.1',
    'via',
    '1.1 a',
    'X-Forwarded-For',
    '2.2.2.2',
    'Via',
    '1.0 b',
    'Host',
    'gw',
  ];
  assert.deepEqual(fieldsOf(raw), [
    ['x-forwarded-host', 'public'],
    ['X-FORWARDED-PROTO', 'https'],
    ['x-forwarded-for', '1.1.1.1'],
    ['via', '1.1 a'],
    ['X-Forwarded-For', '2.2.2.2, 10.0.0.9'],
    ['Via', '1.0 b, 1.1 me'],
  ]);
});

it('an empty list gets no comma, and a client without an address is not listed', () => {
  assert.deepEqual(fieldsOf(['X-Forwarded-For', '', 'Via', '']).slice(0, 2), [
    ['X-Forwarded-For', '10.0.0.9'],
    ['Via', '1.1 me'],
  ]);
  const names = fieldsOf([], { address: undefined }).map(([name]) => name);
  assert.deepEqual(names, ['X-Forwarded-Proto', 'Via']);
});
