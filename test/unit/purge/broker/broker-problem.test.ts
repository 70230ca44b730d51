import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  isAboutPageSize,
  isUnknownTenant,
  parseBrokerProblem,
  parseJsonObject,
} from '../../../../sidecar/purge/broker/index.js';
import { replyOf } from './replies.js';

const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';

describe('parseBrokerProblem', () => {
  it('parseBrokerProblem reads type, title and detail, and takes the status from the reply', () => {
    const body = {
      type: `${ETSI}BadRequestData`,
      title: 'Bad',
      detail: 'q is wrong',
      status: 200,
      extra: [1],
    };
    assert.deepEqual(parseBrokerProblem(replyOf(400, body)), {
      type: `${ETSI}BadRequestData`,
      title: 'Bad',
      detail: 'q is wrong',
      status: 400,
    });
  });

  it('parseBrokerProblem trims the blanks that some brokers leave at the end of a type', () => {
    assert.equal(
      parseBrokerProblem(replyOf(403, { type: `${ETSI}TooManyResults ` })).type,
      `${ETSI}TooManyResults`,
    );
  });

  it('parseBrokerProblem takes message or description for a missing detail', () => {
    const all = { detail: 'own', message: 'm', description: 'd' };
    assert.equal(parseBrokerProblem(replyOf(400, all)).detail, 'own');
    assert.equal(parseBrokerProblem(replyOf(400, { message: 'm', description: 'd' })).detail, 'm');
    assert.equal(parseBrokerProblem(replyOf(400, { error: 'BadRequest', description: 'd' })).detail, 'd');
    assert.equal(parseBrokerProblem(replyOf(400, { detail: ['x'], message: 'm' })).detail, 'm');
  });

  it('parseBrokerProblem leaves out members that are blank or not strings', () => {
    for (const odd of [null, 7, true, [], {}, '', '  ']) {
      assert.deepEqual(parseBrokerProblem(replyOf(400, { type: odd, title: odd, detail: odd })), {
        status: 400,
      });
    }
  });

  it('parseBrokerProblem keeps plain text as detail, but never an HTML or XML page', () => {
    assert.deepEqual(
      parseBrokerProblem(replyOf(502, ' upstream gone \n', { 'content-type': 'text/plain' })),
      {
        status: 502,
        detail: 'upstream gone',
      },
    );
    for (const type of ['text/html; charset=utf-8', 'TEXT/HTML', 'application/xhtml+xml', 'text/xml']) {
      const reply = replyOf(404, '<!DOCTYPE html><pre>Cannot DELETE</pre>', { 'content-type': type });
      assert.deepEqual(parseBrokerProblem(reply), { status: 404 }, type);
    }
  });

  it('parseBrokerProblem caps long texts', () => {
    const long = 'x'.repeat(5000);
    for (const body of [long, { detail: long }]) {
      const { detail } = parseBrokerProblem(replyOf(500, body));
      assert.equal(detail, `${'x'.repeat(1000)}…`);
    }
  });

  it('parseBrokerProblem never throws, and answers short texts only, whatever the body is', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((title) => JSON.stringify({ title })),
    );
    fc.assert(
      fc.property(bodies, fc.constantFrom('', 'application/json', 'text/html'), (body, type) => {
        const { status, ...texts } = parseBrokerProblem(replyOf(500, body, { 'content-type': type }));
        assert.equal(status, 500);
        for (const text of Object.values(texts)) assert.ok(text.length > 0 && text.length <= 1001);
      }),
    );
  });
});

describe('parseJsonObject', () => {
  it('parseJsonObject is undefined for anything but a JSON object', () => {
    for (const text of ['', ' ', 'null', '[]', '[{}]', '"{}"', '1', '{', 'undefined']) {
      assert.equal(parseJsonObject(text), undefined, text);
    }
    assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 });
  });
});

describe('isUnknownTenant', () => {
  const isUnknown = (body: unknown, status = 404) =>
    isUnknownTenant(parseBrokerProblem(replyOf(status, body)));

  it('isUnknownTenant knows the spellings of the standard and of brokers, trailing blanks included', () => {
    for (const name of ['NonexistentTenant', 'NonExistentTenant', 'NonExistingTenant', 'TenantNotFound']) {
      for (const type of [name, `${ETSI}${name}`, `${ETSI}${name}  `]) {
        assert.equal(isUnknown({ type }), true, type);
      }
    }
  });

  it('isUnknownTenant recognises an unknown tenant by the title when the type is generic', () => {
    for (const title of [
      'No such tenant',
      'Tenant not found',
      'Unknown tenant',
      'Non-existing tenant',
      'tenant is unknown',
    ]) {
      assert.equal(isUnknown({ type: 'about:blank', title }), true, title);
    }
  });

  it('isUnknownTenant does not mistake a missing entity, a missing route or another status for it', () => {
    for (const body of [
      { type: `${ETSI}ResourceNotFound`, title: 'Entity Not Found', detail: 'urn:ngsi-ld:Tenant:1' },
      { title: 'Entity tenant not found' },
      { title: 'urn:ngsi-ld:Tenant not found' },
      { title: 'Not Found' },
      '<html>Not Found</html>',
      '',
    ]) {
      assert.equal(isUnknown(body), false, JSON.stringify(body));
    }
    assert.equal(isUnknown({ type: `${ETSI}NonexistentTenant` }, 400), false);
  });
});

describe('isAboutPageSize', () => {
  const isAbout = (body: unknown) => isAboutPageSize(parseBrokerProblem(replyOf(403, body)));

  it('isAboutPageSize knows TooManyResults in any spelling, and words about the limit or the page size', () => {
    for (const body of [
      { type: `${ETSI}TooManyResults ` },
      { title: 'Too many results' },
      { title: 'Invalid value for uri parameter limit', detail: '1001' },
      { detail: 'page size exceeds 100' },
      'limit must be at most 1000',
    ]) {
      assert.equal(isAbout(body), true, JSON.stringify(body));
    }
  });

  it('isAboutPageSize ignores other complaints', () => {
    for (const body of [
      { detail: 'unknown parameter pick' },
      { title: 'unlimited', detail: 'limits apply' },
      '',
    ]) {
      assert.equal(isAbout(body), false, JSON.stringify(body));
    }
  });
});
