import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HeaderSealer, headersAt, JobSecretError } from '../../../sidecar/jobs/job-headers.js';
import type { PurgeRecord } from '../../../sidecar/store/job-records.js';

const HEADERS = {
  'ngsild-tenant': 'north',
  authorization: 'Bearer top-secret',
  'x-auth-token': 'second-secret',
};

it('the credentials of a job are restored unchanged, and are not readable in the stored text', () => {
  const sealer = new HeaderSealer(['a-secret-of-jobs']);
  const kept = sealer.seal(HEADERS);
  assert.deepEqual(kept.headers, { 'ngsild-tenant': 'north' });
  const text = JSON.stringify(kept) + Buffer.from(kept.sealedHeaders ?? '', 'base64').toString('latin1');
  assert.doesNotMatch(text, /top-secret|second-secret/);
  assert.deepEqual(sealer.open(kept), HEADERS);
});

it('the credentials of a job are encrypted differently each time', () => {
  const sealer = new HeaderSealer(['a-secret-of-jobs']);
  assert.notEqual(sealer.seal(HEADERS).sealedHeaders, sealer.seal(HEADERS).sealedHeaders);
});

it('the credentials of a job are refused without a secret, which jobs without credentials do not need', () => {
  const sealer = new HeaderSealer([]);
  assert.throws(() => sealer.seal(HEADERS), JobSecretError);
  assert.deepEqual(sealer.seal({ link: '<x>' }), { headers: { link: '<x>' } });
  assert.deepEqual(sealer.open({ headers: { link: '<x>' } }), { link: '<x>' });
});

it('the credentials of a job are encrypted with the first secret and decrypted with any, so that a secret can be replaced', () => {
  const kept = new HeaderSealer(['old-secret-1']).seal(HEADERS);
  assert.deepEqual(new HeaderSealer(['new-secret-2', 'old-secret-1']).open(kept), HEADERS);
  const anew = new HeaderSealer(['new-secret-2', 'old-secret-1']).seal(HEADERS);
  assert.deepEqual(new HeaderSealer(['new-secret-2']).open(anew), HEADERS);
  assert.throws(() => new HeaderSealer(['new-secret-2']).open(kept), JobSecretError);
  assert.throws(() => new HeaderSealer([]).open(kept), JobSecretError);
});

it('the credentials of a job are rejected if a bit of them was changed', () => {
  const sealer = new HeaderSealer(['a-secret-of-jobs']);
  const bytes = Buffer.from(sealer.seal(HEADERS).sealedHeaders ?? '', 'base64');
  for (const at of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const kept = { headers: {}, sealedHeaders: changed.toString('base64') };
    assert.throws(() => sealer.open(kept), JobSecretError, String(at));
  }
  assert.throws(() => sealer.open({ headers: {}, sealedHeaders: 'AAAA' }), JobSecretError);
});

it('a job that follows a purge takes its place from it, and may only repeat that', () => {
  const LINK = '<https://a.example/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';
  const place = { tenant: 'north', link: LINK, fiware: { servicePath: '/parks' } };
  const at = (given: Readonly<Record<string, string>>, record: object = place) =>
    headersAt(given, record as PurgeRecord);
  const there = { 'ngsild-tenant': 'north', 'fiware-servicepath': '/parks', link: LINK };
  assert.deepEqual(at({ authorization: 'a' }), { authorization: 'a', ...there });
  assert.deepEqual(at({ 'fiware-service': 'north', ...there }), there);
  for (const [header, value] of [
    ['ngsild-tenant', 'south'],
    ['fiware-service', 'south'],
    ['fiware-servicepath', '/'],
    ['link', LINK.replace('a.', 'b.')],
  ] as const) {
    const refusal = { name: 'QueryRefusedError', message: new RegExp(`leave the header ${header} out`) };
    for (const record of [place, {}]) assert.throws(() => at({ [header]: value }, record), refusal);
  }
});
