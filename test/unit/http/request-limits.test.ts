import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  faultyFields,
  faultyMessage,
  isMisframed,
  longPath,
  longTarget,
  MAX_FIELDS,
} from '../../../sidecar/http/request-limits.js';

const SINGLE = [
  ...['NGSILD-Tenant', 'Fiware-Service', 'Fiware-ServicePath', 'NGSILD-Snapshot', 'NGSILD-EntityMap'],
  ...['Authorization', 'X-Auth-Token', 'X-Gateway-Token', 'X-Purge-Policy'],
];

describe('faultyFields', () => {
  it('faultyFields takes as many fields as are allowed, and refuses one more with 431', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, n) => [`x-${n}`, '1']).flat();
    assert.equal(MAX_FIELDS, 500);
    assert.equal(faultyFields(fields(MAX_FIELDS)), undefined);
    assert.equal(faultyFields(fields(MAX_FIELDS + 1))?.status, 431);
  });

  for (const name of SINGLE) {
    it(`faultyFields takes ${name} once, with a value, and refuses it empty or repeated`, () => {
      assert.equal(faultyFields(['Host', 'gw', name, 't1']), undefined);
      for (const raw of [
        [name, ''],
        [name, ' \t'],
        [name, 't1', 'Host', 'gw', name.toUpperCase(), 't1'],
        [name, 't1', name, 't2'],
      ]) {
        const problem = faultyFields(raw);
        assert.equal(problem?.status, 400, JSON.stringify(raw));
        assert.match(problem.detail, new RegExp(name, 'i'));
      }
    });
  }

  it('faultyFields lets other fields be repeated and empty', () => {
    assert.equal(faultyFields(['Link', '<a>', 'Link', '<b>', 'Via', '', 'X-A', '1', 'X-A', '1']), undefined);
  });
});

describe('faultyMessage', () => {
  const statusOf = (httpVersion: string, headers: Readonly<Record<string, string>>) =>
    faultyMessage({ httpVersion, headers })?.status;

  it('faultyMessage takes HTTP/1.1 with a Host and HTTP/1.0 with or without one, and no other version', () => {
    assert.equal(statusOf('1.1', { host: 'gw' }), undefined);
    assert.equal(statusOf('1.1', { host: '' }), undefined);
    assert.equal(statusOf('1.0', { host: 'gw' }), undefined);
    assert.equal(statusOf('1.0', {}), undefined);
    assert.equal(statusOf('1.1', {}), 400);
    for (const version of ['0.9', '1.2', '2.0', '']) assert.equal(statusOf(version, { host: 'gw' }), 400);
  });

  it('faultyMessage refuses any transfer coding in HTTP/1.0, and any but chunked in HTTP/1.1', () => {
    const coded = (coding: string) => ({ host: 'gw', 'transfer-encoding': coding });
    assert.equal(statusOf('1.1', coded('chunked')), undefined);
    assert.equal(statusOf('1.1', coded('gzip, chunked')), 501);
    for (const coding of ['chunked', 'gzip', '']) assert.equal(statusOf('1.0', coded(coding)), 400, coding);
  });

  it('a request of which nobody knows the end is one with a transfer coding before HTTP/1.1', () => {
    const headers = { 'transfer-encoding': 'chunked' };
    for (const httpVersion of ['1.0', '0.9', '2.0']) {
      assert.equal(isMisframed({ httpVersion, headers }), true);
      assert.equal(isMisframed({ httpVersion, headers: { 'content-length': '1' } }), false);
    }
    assert.equal(isMisframed({ httpVersion: '1.1', headers }), false);
  });
});

describe('the lengths of a request', () => {
  const path = (length: number) => `/${'x'.repeat(length - 1)}`;

  it('a path of 8 KiB is taken with any query, and one byte more is 414 with any', () => {
    for (const query of ['', '?', `?${'q'.repeat(20_000)}`]) {
      assert.equal(longPath(path(8192) + query), undefined);
      assert.equal(longPath(path(8193) + query)?.status, 414);
    }
  });

  it('a target of 16 KiB is taken, and one byte more is 414', () => {
    assert.equal(longTarget(`/?${'q'.repeat(16_382)}`), undefined);
    assert.equal(longTarget(`/?${'q'.repeat(16_383)}`)?.status, 414);
  });
});
