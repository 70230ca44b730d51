import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { failureKind, instanceOf } from '../../../sidecar/http/forward-problem.js';
import { brokerBase, brokerTarget } from '../../../sidecar/http/forward-target.js';
import { endToEndHeaders, isPlainlyFramed, valuesOf } from '../../../sidecar/http/hop-by-hop.js';

const names = (raw: string[], drop?: ReadonlySet<string>) =>
  endToEndHeaders(raw, drop).filter((_text, at) => at % 2 === 0);

describe('endToEndHeaders', () => {
  it('endToEndHeaders keeps order, spelling and repetitions (RFC 9110, section 7.6.1)', () => {
    const raw = ['b', '1', 'A', '2', 'B', '3', '__proto__', '4'];
    assert.deepEqual(endToEndHeaders(raw), raw);
  });

  it('endToEndHeaders leaves out hop-by-hop fields in any case, and dropped ones', () => {
    const raw = [
      'CONNECTION',
      'x',
      'Te',
      'trailers',
      'TRANSFER-encoding',
      'chunked',
      'X-Secret',
      '1',
      'Accept',
      '*/*',
    ];
    assert.deepEqual(names(raw, new Set(['x-secret'])), ['Accept']);
  });

  it('endToEndHeaders leaves out the fields that any Connection line names, whatever its blanks, empty options and case', () => {
    const raw = [
      'Connection',
      ' ,X-A,, x-b',
      'connection',
      'X-C',
      'X-A',
      '1',
      'X-B',
      '2',
      'x-c',
      '3',
      'X-D',
      '4',
    ];
    assert.deepEqual(names(raw), ['X-D']);
  });

  it('endToEndHeaders never lets Connection take a field that frames, routes, authenticates or describes the message', () => {
    for (const name of [
      'Host',
      'Content-Length',
      'Content-Type',
      'Authorization',
      'X-Auth-Token',
      'NGSILD-Tenant',
      'NGSILD-Results-Count',
      'Fiware-Service',
      'Link',
      'Via',
      'X-Forwarded-For',
      'Set-Cookie',
      'Cookie',
      'Cache-Control',
      'If-Match',
      'Accept',
      'ETag',
      'WWW-Authenticate',
      'Location',
      'Retry-After',
    ]) {
      assert.deepEqual(names(['Connection', name, name, 'x']), [name], name);
    }
  });

  it('endToEndHeaders never throws and never invents a field', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (raw) => {
        const kept = endToEndHeaders(raw);
        assert.ok(kept.length <= raw.length);
        for (const text of kept) assert.ok(raw.includes(text));
      }),
    );
  });
});

describe('isPlainlyFramed', () => {
  it('isPlainlyFramed accepts no transfer coding but chunked, once', () => {
    assert.equal(isPlainlyFramed(undefined), true);
    assert.equal(isPlainlyFramed(' Chunked '), true);
    assert.equal(isPlainlyFramed(['chunked']), true);
    for (const value of ['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', '']) {
      assert.equal(isPlainlyFramed(value), false, value);
    }
    assert.equal(isPlainlyFramed(['gzip', 'chunked']), false);
    assert.equal(isPlainlyFramed(['chunked', 'chunked']), false);
  });
});

describe('valuesOf', () => {
  it('valuesOf reads names, not values', () => {
    assert.deepEqual(
      valuesOf(['X', 'transfer-encoding', 'Transfer-Encoding', 'chunked'], 'transfer-encoding'),
      ['chunked'],
    );
  });
});

describe('brokerTarget', () => {
  const base = (url: string) => brokerBase(new URL(url));

  it('brokerTarget puts the path of the broker before the target and changes nothing', () => {
    assert.equal(brokerTarget(base('http://b:1026'), '/ngsi-ld/%7e?a=%zz'), '/ngsi-ld/%7e?a=%zz');
    assert.equal(brokerTarget(base('http://b:1026/'), '/x'), '/x');
    assert.equal(brokerTarget(base('http://b:1026/a/b//'), '/x'), '/a/b/x');
  });

  it('a base URL of a broker with a part that would be lost on the way is refused', () => {
    for (const url of ['ftp://b', 'http://u@b', 'http://:p@b', 'http://b/?q=1', 'http://b/#f'])
      assert.throws(() => base(url), TypeError, url);
  });

  it('brokerTarget takes scheme and authority off an absolute form', () => {
    assert.equal(brokerTarget(base('http://b/p'), 'HTTP://u@h:1/x?y'), '/p/x?y');
    assert.equal(brokerTarget(base('http://b'), 'http://h'), '/');
    assert.equal(brokerTarget(base('http://b'), 'http://h?a'), '/?a');
  });

  it('brokerTarget never gives a target that would break the request line', () => {
    for (const target of ['', '*', 'x', 'h:80', '/a b', '/a\r\nX: y', '/a\tb', '/a\0', '/\x7f', '/€']) {
      assert.equal(brokerTarget(base('http://b'), target), undefined, JSON.stringify(target));
    }
  });
});

describe('instanceOf', () => {
  it('instanceOf is a URI reference without the query, whatever the target', () => {
    assert.equal(instanceOf('/ngsi-ld/v1/a%2F?secret=1'), '/ngsi-ld/v1/a%2F');
    assert.equal(instanceOf('/a\\b<c>"%zz#é'), '/a%5Cb%3Cc%3E%22%25zz%23%E9');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => assert.match(instanceOf(text), /^[\x21-\x7e]*$/)),
    );
  });
});

describe('failureKind', () => {
  const of = (code: string) => failureKind(Object.assign(new Error('x'), { code }));

  it('failureKind recognises time-outs, unusable answers, unacceptable requests and shutdown', () => {
    assert.equal(of('UND_ERR_HEADERS_TIMEOUT'), 'timeout');
    assert.equal(of('UND_ERR_CONNECT_TIMEOUT'), 'timeout');
    assert.equal(of('ETIMEDOUT'), 'timeout');
    assert.equal(of('HPE_INVALID_CONSTANT'), 'unusable-reply');
    assert.equal(of('ERR_INVALID_CHAR'), 'unusable-reply');
    assert.equal(of('UND_ERR_INVALID_ARG'), 'unacceptable-request');
    assert.equal(of('UND_ERR_CLOSED'), 'closing');
    assert.equal(of('ECONNREFUSED'), 'unreachable');
    assert.equal(of('ERR_TLS_CERT_ALTNAME_INVALID'), 'unreachable');
    assert.equal(failureKind('no error'), 'unreachable');
    assert.equal(failureKind(undefined), 'unreachable');
  });
});
