import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigError } from '../../sidecar/shared/config/load.js';
import { isMistake, startErrorLines } from '../../sidecar/start-error.js';
import { DatabaseUnusableError } from '../../sidecar/store/errors.js';

it('startErrorLines lists every mistake of a configuration and where settings are described', () => {
  assert.deepEqual(startErrorLines(new ConfigError(['PORT must be x', 'HOST must be y'])), [
    'The configuration has 2 mistakes.',
    '  - PORT must be x',
    '  - HOST must be y',
    'docs/config.md lists all settings.',
  ]);
});

it('startErrorLines says what to do about an address on which the gateway cannot listen', () => {
  const listen = { syscall: 'listen', address: '10.0.0.1', port: 80 };
  const lookup = { syscall: 'getaddrinfo', hostname: 'nowhere' };
  for (const [code, more, line] of [
    [
      'EADDRINUSE',
      listen,
      /^Cannot listen on 10\.0\.0\.1 port 80: the port is in use.*another PORT or METRICS_PORT/,
    ],
    ['EACCES', listen, /^Cannot listen on 10\.0\.0\.1 port 80: .*PORT of 1024/],
    ['EADDRNOTAVAIL', listen, /^Cannot listen on 10\.0\.0\.1 port 80: HOST is not an address/],
    ['ENOTFOUND', lookup, /^Cannot listen on nowhere: HOST is not an address/],
    ['EAI_AGAIN', lookup, /^Cannot listen on nowhere: HOST is not an address/],
    ['EMFILE', listen, /^as it is$/],
    ['EACCES', { syscall: 'open' }, /^as it is$/],
    ['ENOTFOUND', {}, /^as it is$/],
  ] as const) {
    const lines = startErrorLines(Object.assign(new Error('as it is'), { code, ...more }));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', line, code);
  }
});

it('startErrorLines shows the message of any other error', () => {
  assert.deepEqual(startErrorLines(new Error('listen EADDRINUSE')), ['listen EADDRINUSE']);
  assert.deepEqual(startErrorLines('odd'), ['odd']);
});

it('the error of a database that cannot be opened names the setting', () => {
  for (const [message, line] of [
    ['postgres://h/db is away', 'DATABASE_URL: postgres://h/db is away'],
    ['a.db is locked', 'DATABASE_PATH: a.db is locked'],
  ] as const)
    assert.deepEqual(startErrorLines(new DatabaseUnusableError(message)), [line]);
});

it('settings that turn out wrong only when they are used are mistakes, and a port in use is none', () => {
  const failed = (more: object) => Object.assign(new Error('failed'), more);
  for (const [error, expected] of [
    [new ConfigError(['PORT must be x']), true],
    [new DatabaseUnusableError('a.db is locked'), true],
    [failed({ code: 'EADDRNOTAVAIL', syscall: 'listen' }), true],
    [failed({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), true],
    [failed({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' }), false],
    [failed({ code: 'EADDRINUSE', syscall: 'listen' }), false],
    [failed({ code: 'ENOTFOUND', syscall: 'connect' }), false],
    [new Error('failed'), false],
    ['odd', false],
  ] as const)
    assert.equal(isMistake(error), expected, String(error));
});
