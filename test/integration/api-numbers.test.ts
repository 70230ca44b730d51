import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { parseJson } from '../../sidecar/shared/json/lossless-json.js';
import { stopAll } from '../support/gateway-harness.js';
import { type ApiClient, startApi } from './api-client.js';
import { column, columns } from '../support/columns.js';

after(stopAll);

const INT64 = '9223372036854775807';
const SHARED = 'https://shared.example/numbers.json';
const DECIMAL = '0.12345678901234567891';

/**
 * A schema with numbers that no double holds: in assertions, in a shared document and in
 * annotations.
 */
const schemaText = (max: string): string =>
  `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["id","type","count","code"],` +
  `"properties":{"count":{"type":"integer","minimum":1,"maximum":${max}},"code":{"enum":[${INT64}]},` +
  `"share":{"type":"number","default":${DECIMAL},"examples":[${DECIMAL}]},"other":{"$ref":"${SHARED}"}}}`;

const JSON_TYPE = { 'content-type': 'application/json' };

let api: ApiClient;
const model = '/domains/Grid/models/Meter';
const send = (method: string, target: string, raw: string, headers: Record<string, string> = {}) =>
  api.send(method, target, { raw, headers: { ...JSON_TYPE, ...headers } });
const putModel = (max: string, query = '') =>
  send('PUT', `${model}${query}`, `{"schema":${schemaText(max)}}`);

before(async () => {
  ({ api } = await startApi());
  const shared = await send('PUT', `/references?uri=${encodeURIComponent(SHARED)}`, `{"maximum":${INT64}}`);
  assert.equal(shared.status, 201, shared.text);
  await api.post('/domains', { name: 'Grid' });
  const made = await putModel(INT64);
  assert.equal(made.status, 201, made.text);
});

it('a model, its schema, bundle, files and referenced documents are served with the digits of their numbers unchanged', async () => {
  assert.equal((await api.get(`${model}/schema`)).text, schemaText(INT64));
  const targets = ['', '/schema?bundled=true', '/openapi', '/files/schema.json', '/files/openapi.json'];
  for (const target of [...targets, '/schema?version=1', '/versions?limit=1']) {
    const { status, text } = await api.get(model + target);
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /922337203685477(?!5807)/, target);
    assert.doesNotMatch(text, /"9223372036854775807"|"0\.123456789/, target);
    if (!target.startsWith('/versions')) assert.ok(text.includes(INT64) && text.includes(DECIMAL), target);
  }
  for (const name of ['example.jsonld', 'example-normalized.jsonld'])
    assert.match((await api.get(`${model}/files/${name}`)).text, new RegExp(`[:[]${INT64}[,}\\]]`), name);
  const reference = await api.get(`/references?uri=${encodeURIComponent(SHARED)}`);
  assert.equal(reference.text, `{"maximum":${INT64}}`);
});

it('one changed digit of a large number changes the ETag and the version, and is in the change report', async () => {
  const before = await api.get(model);
  const again = (await putModel(INT64)).json() as { outcome: string };
  assert.equal(again.outcome, 'unchanged');
  const tried = (await putModel('9223372036854775806', '?dryRun=true')).json() as {
    change: { overall: string; differences: { pointer: string; detail: string }[] };
  };
  assert.equal(tried.change.overall, 'narrowing');
  const [difference] = tried.change.differences;
  assert.equal(difference?.pointer, '/properties/count/maximum');
  assert.match(difference.detail, /9223372036854775806.*9223372036854775807/);
  const updated = await putModel('9223372036854775806');
  assert.equal((updated.json() as { outcome: string }).outcome, 'version', updated.text);
  assert.notEqual((await api.get(model)).headers.get('etag'), before.headers.get('etag'));
  assert.equal((await api.get(`${model}/schema`)).text, schemaText('9223372036854775806'));
  assert.equal((await putModel(INT64)).status, 200);
});

it('an entity is validated by all digits of its numbers', async () => {
  const entity = (count: string, code: string) =>
    `{"id":"urn:ngsi-ld:Meter:1","type":"Meter","count":${count},"code":{"type":"Property","value":${code}}}`;
  const normalized = (count: string, code: string) => entity(`{"type":"Property","value":${count}}`, code);
  for (const [count, code, faults] of [
    [INT64, INT64, []],
    ['9223372036854775808', INT64, [`must be at most ${INT64}, is 9223372036854775808`]],
    ['1', '9223372036854775806', [`must be ${INT64}, is 9223372036854775806`]],
  ] as const)
    for (const target of ['/validate/Grid/Meter', '/validate']) {
      const answer = await send('POST', target, normalized(count, code));
      const verdict = [answer.json()].flat()[0] as { valid: boolean; errors: { detail: string }[] };
      assert.deepEqual(column(verdict.errors, 'detail'), faults, answer.text);
      assert.equal(verdict.valid, faults.length === 0);
    }
});

it('an export keeps all digits of numbers, and importing it changes nothing', async () => {
  const archive = await fetch(`${api.url}/export?domain=Grid`);
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const imported = await api.send('POST', '/import', {
    raw: bytes,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(imported.status, 200, imported.text);
  const { files } = imported.json() as { files: { path: string; status: string }[] };
  assert.ok(files.length > 0);
  assert.deepEqual(
    column(
      files.filter(({ status }) => status !== 'unchanged'),
      'path',
    ),
    [],
  );
  const documents = `{"documents":{"Valve/schema.json":${schemaText(INT64)}}}`;
  const sent = await send('POST', '/import?domain=Other', documents);
  assert.equal(sent.status, 200, sent.text);
  assert.equal(
    JSON.stringify(parseJson((await api.get('/domains/Other/models/Valve/schema')).text)),
    schemaText(INT64),
  );
});

it('expansion and compaction warn of the numbers that they change, with the new value', async () => {
  const context = '{"@vocab":"https://v.example/"}';
  for (const how of ['expand', 'compact']) {
    const document = `{"@context":${context},"a":[1.5,9007199254740993],"b":{"c/d":${DECIMAL}}}`;
    const answer = await send('POST', `/workbench/jsonld/${how}`, `{"document":${document}}`);
    assert.equal(answer.status, 200, answer.text);
    const { warnings } = answer.json() as { warnings: { code: string; pointer: string; detail: string }[] };
    assert.deepEqual(columns(warnings, 'code', 'pointer'), [
      ['number-changed', '/document/a/1'],
      ['number-changed', '/document/b/c~1d'],
    ]);
    assert.match(warnings[0]?.detail ?? '', /^9007199254740993 .* 9007199254740992\.$/);
  }
  const plain = await send(
    'POST',
    '/workbench/jsonld/expand',
    `{"document":{"@context":${context},"a":1.50}}`,
  );
  assert.deepEqual((plain.json() as { warnings: unknown[] }).warnings, []);
});

it('a schema inferred from samples with numbers that no double holds accepts the samples', async () => {
  const samples = `[{"id":"urn:ngsi-ld:Tank:1","type":"Tank","a":${INT64},"b":9007199254740992.5}]`;
  const inferred = await send('POST', '/workbench/schema/infer', samples);
  assert.equal(inferred.status, 200, inferred.text);
  const { properties } = inferred.json() as { properties: Record<string, unknown> };
  assert.deepEqual([properties['a'], properties['b']], [{ type: 'integer' }, { type: 'number' }]);
});

it('a setting with a number that no double holds is refused', async () => {
  const answer = await send('POST', '/purges', `{"query":"type=Meter","maxAffected":${INT64}}`);
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.text, /"\/maxAffected","detail":"must be a number that an IEEE 754 double holds/);
});
