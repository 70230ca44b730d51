import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { startApi, type ApiClient } from './api-client.js';
import { words } from '../support/words.js';

after(stopAll);

/** Takes exponential time on a text that nearly matches. */
const BACKTRACKING = { type: 'object', properties: { name: { type: 'string', pattern: '^(a|a)*$' } } };
const HANGING = { id: 'urn:a:1', type: 'Hostile', name: `${'a'.repeat(60)}!` };

async function withModels(api: ApiClient): Promise<void> {
  await api.post('/domains', { name: 'City' });
  await api.post('/domains/City/models', { name: 'Hostile', schema: BACKTRACKING });
  await api.post('/domains/City/models', { name: 'Bike', schema: { type: 'object' } });
}

it('while validations hang in a backtracking pattern, other requests are answered', async () => {
  // Nothing ends these validations before the gateway stops, so this gateway has its own workers.
  const { api, url } = await startApi({ WORKBENCH_TIMEOUT_MS: '59000' });
  await withModels(api);
  let answered = 0;
  const hanging = Array.from({ length: 10 }, async () => {
    await api.post('/validate/City/Hostile', HANGING).then(
      () => (answered += 1),
      () => undefined,
    );
  });
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await fetch(`${url}/health/live`)).status, 200);
    const others = await Promise.all([
      api.post('/validate/City/Bike', { id: 'urn:a:1', type: 'Bike', speed: round }),
      api.post('/workbench/schema/infer', { speed: round }),
      api.post('/workbench/jsonld/expand', { document: { 'urn:a:a': round } }),
      api.post('/workbench/jsonld/compact', { document: { 'urn:a:a': round } }),
      api.get('/domains/City/models/Bike/openapi'),
      api.put('/domains/City/models/Bike', { schema: { type: 'object', title: `round ${round}` } }),
    ]);
    for (const { status, text } of others) assert.equal(status, 200, text);
  }
  assert.equal(answered, 0, 'they hang still');
  await stopAll();
  await Promise.all(hanging);
});

it('a validation that hangs ends at its deadline with 504, and other models stay usable', async () => {
  const { api } = await startApi({ WORKBENCH_TIMEOUT_MS: '1500' });
  await withModels(api);
  const [late, ...others] = await Promise.all([
    api.post('/validate/City/Hostile', HANGING),
    api.post('/validate/City/Bike', { id: 'urn:a:1', type: 'Bike' }),
  ]);
  assert.equal(late.status, 504, late.text);
  assert.match(late.problem().type, /deadline-exceeded$/);
  assert.match(late.problem().detail ?? '', /WORKBENCH_TIMEOUT_MS/);
  for (const { status } of others) assert.equal(status, 200);
  const harmless = await api.post('/validate/City/Hostile', { ...HANGING, name: 'aaa' });
  assert.deepEqual(harmless.json(), { valid: true, form: 'keyvalues', errors: [], warnings: [] });
});

const targets = words(`
  /workbench/schema/infer /workbench/jsonld/expand /workbench/jsonld/compact /validate/City/Bike
`);

it('a body sent to the workbench may be nested up to the limit; beyond it, the answer is 422', async () => {
  const { api } = await startApi();
  await withModels(api);
  for (const target of targets) {
    const nested = (levels: number) => `${'{"urn:a:a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const deep = (levels: number) =>
      target.includes('jsonld') ? `{"document":${nested(levels - 1)}}` : nested(levels);
    const refused = await api.send('POST', target, { raw: deep(5000) });
    assert.equal(refused.status, 422, target);
    assert.match(refused.problem().type, /limit-exceeded$/);
    assert.match(refused.problem().detail ?? '', /500 levels/);
    const taken = await api.send('POST', target, { raw: deep(400) });
    assert.ok([200, 422].includes(taken.status), taken.text);
  }
  assert.equal((await api.get('/domains')).status, 200);
});
