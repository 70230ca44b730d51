import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import {
  isAboutPageSize,
  isUnknownTenant,
  parseBrokerProblem,
  parseJsonObject,
} from '../../../../sidecar/purge/broker/index.js';
import { replyOf } from '../../../support/replies.js';

const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';

const ODD = [null, 7, true, [], {}, '', '  '];
for (const [what, body, problem, contentType = ''] of [
  [
    'reads type, title and detail, and takes the status from the reply',
    { type: `${ETSI}BadRequestData`, title: 'Bad', detail: 'q is wrong', status: 200, extra: [1] },
    { type: `${ETSI}BadRequestData`, title: 'Bad', detail: 'q is wrong' },
  ],
  [
    'trims the blanks that some brokers append to a type',
    { type: `${ETSI}TooManyResults ` },
    { type: `${ETSI}TooManyResults` },
  ],
  ['reads its own detail', { detail: 'own', message: 'm', description: 'd' }, { detail: 'own' }],
  ['uses message for a missing detail', { message: 'm', description: 'd' }, { detail: 'm' }],
  ['uses description for a missing detail', { error: 'BadRequest', description: 'd' }, { detail: 'd' }],
  ['uses message if detail is not a string', { detail: ['x'], message: 'm' }, { detail: 'm' }],
  [
    'uses an object for a missing text, as Scorpio answers',
    { title: 'Internal error', detail: { message: 'ERROR: 22P02' }, errorCode: 500 },
    { title: 'Internal error', detail: '{"message":"ERROR: 22P02"}' },
  ],
  [
    'uses a list for a missing text, as FastAPI answers',
    { detail: [{ loc: ['query', 'limit'], msg: 'must be at most 100' }] },
    { detail: '[{"loc":["query","limit"],"msg":"must be at most 100"}]' },
  ],
  ['uses error for a missing detail', { error: 'e' }, { detail: 'e' }],
  [
    'uses the description of an error of OAuth',
    { error: 'invalid_token', error_description: 'It has expired.' },
    { detail: 'It has expired.' },
  ],
  [
    'uses an object of Keyrock',
    { error: { message: 'no', code: 401 } },
    { detail: '{"message":"no","code":401}' },
  ],
  ...ODD.map(
    (odd) => [`leaves out ${JSON.stringify(odd)}`, { type: odd, title: odd, detail: odd }, {}] as const,
  ),
  ['keeps plain text as detail', ' upstream gone \n', { detail: 'upstream gone' }, 'text/plain'],
  ...['text/html; charset=utf-8', 'TEXT/HTML', 'application/xhtml+xml', 'text/xml'].map(
    (type) => [`never keeps a page of ${type}`, '<!DOCTYPE html><pre>Cannot DELETE</pre>', {}, type] as const,
  ),
] as const)
  it(`parseBrokerProblem ${what}`, () => {
    const reply = replyOf(404, body, contentType === '' ? {} : { 'content-type': contentType });
    assert.deepEqual(parseBrokerProblem(reply), { ...problem, status: 404 });
  });

it('parseBrokerProblem shortens long texts, and objects nested more deeply than JSON can be written, or omits them', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const { detail: written = `${'['.repeat(1000)}…`, ...rest } = parseBrokerProblem(
    replyOf(500, `{"title":"t","detail":${deep}}`),
  );
  // Since Node 26, JSON.stringify writes any depth; before, it throws.
  assert.deepEqual({ ...rest, written }, { title: 't', status: 500, written: `${'['.repeat(1000)}…` });
  const long = 'x'.repeat(5000);
  for (const body of [long, { detail: long }]) {
    const { detail } = parseBrokerProblem(replyOf(500, body));
    assert.equal(detail, `${'x'.repeat(1000)}…`);
  }
});

it('parseBrokerProblem never throws, and returns short texts only, whatever the body is', () => {
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

it('parseJsonObject is undefined for anything except a JSON object', () => {
  for (const text of ['', ' ', 'null', '[]', '[{}]', '"{}"', '1', '{', 'undefined']) {
    assert.equal(parseJsonObject(text), undefined, text);
  }
  assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 });
});

const isUnknown = (body: unknown, status = 404) => isUnknownTenant(parseBrokerProblem(replyOf(status, body)));

it('isUnknownTenant recognises the texts of the standard and of brokers, including trailing blanks', () => {
  for (const name of ['NonexistentTenant', 'NonExistentTenant', 'NonExistingTenant', 'TenantNotFound']) {
    for (const type of [name, `${ETSI}${name}`, `${ETSI}${name}  `]) {
      assert.equal(isUnknown({ type }), true, type);
    }
  }
});

it('isUnknownTenant recognises an unknown tenant by the title if the type is generic', () => {
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

const isAbout = (body: unknown) => isAboutPageSize(parseBrokerProblem(replyOf(403, body)));

it('isAboutPageSize recognises TooManyResults in any notation, and words about the limit or the page size', () => {
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
