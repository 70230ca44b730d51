import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContextInvalidError } from '../../sidecar/schemas/json-ld/errors.js';
import { SchemaRefusedError } from '../../sidecar/schemas/json-schema/errors.js';
import type { SchemaService } from '../../sidecar/schemas/models/index.js';
import type { ServiceWorkers } from '../../sidecar/schemas/models/model-tasks.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { ALLOWED, BASE_URL, rejection, storedModel, useRigs } from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };
const DEADLINE_MS = 2000;

/** Workers that need a given time for each task, on a clock that only they move; `spentMs` is the sum. */
function timedWorkers(msOf: (kind: string, input: object) => number) {
  const clock = { spentMs: 0 };
  const between = (workers: ServiceWorkers): ServiceWorkers => ({
    run: (kind, input, { time = { usedMs: 0 }, share = 1 } = {}) => {
      const limitMs = (DEADLINE_MS - time.usedMs) * share;
      const ms = Math.min(msOf(kind, input), limitMs);
      time.usedMs += ms;
      clock.spentMs += ms;
      return ms === limitMs
        ? Promise.reject(new TaskTooCostlyError('time', 'It took too long.'))
        : workers.run(kind, input);
    },
  });
  return { clock, workers: between };
}

/** Documents that each refer to the next one, and to a document that nothing needs. */
function chainOf(base: string, length: number) {
  return Array.from({ length }, (_, index) => ({
    uri: `${base}/${index}`,
    document: {
      ...(index + 1 < length ? { allOf: [{ $ref: `${base}/${index + 1}` }] } : {}),
      $defs: { unused: { $ref: `${base}/unused` } },
    },
  }));
}

async function createdWithChain(service: SchemaService, base: string, length: number) {
  for (const { uri, document } of chainOf(base, length)) await service.references.put(uri, document);
  await service.models.create('city', { name: 'Bench', schema: { $ref: `${base}/0` } });
}

describe('what a write of a model or context may cost', () => {
  const rigOf = useRigs();

  it('all stored documents of a chain are loaded at once, and only those that the schema refers to count', async (t) => {
    const { service, tasks } = await rigOf(t);
    const base = 'https://schemas.example';
    await service.references.put(`${base}/unused`, { maxProperties: 1 });
    await createdWithChain(service, base, 20);
    assert.deepEqual(tasks.splice(0), ['acceptVersion', 'acceptVersion']);
    const { version, model } = await storedModel(service, KEY);
    const uris = version.references.map(({ uri }) => uri);
    assert.deepEqual(uris, Array.from({ length: 20 }, (_, index) => `${base}/${index}`).toSorted());

    await service.references.put(`${base}/unused`, { maxProperties: 2 });
    const again = await service.models.put(KEY, { schema: { $ref: `${base}/0` } });
    assert.deepEqual([again.outcome, again.model?.model.etag], ['unchanged', model.etag]);
    assert.deepEqual(tasks, ['acceptVersion']);
  });

  it('documents that nothing needs do not count towards the limit of documents', async (t) => {
    const { service } = await rigOf(t);
    const named = Array.from({ length: 100 }, (_, index) => `https://schemas.example/${index}`);
    for (const uri of named) await service.references.put(uri, {});
    const unused = Object.fromEntries(named.map(($ref) => [$ref, { $ref }]));
    await service.references.put('https://schemas.example/common', { $defs: unused });
    await service.models.create('city', {
      name: 'Bench',
      schema: { $ref: 'https://schemas.example/common' },
    });
    assert.equal((await storedModel(service, KEY)).version.references.length, 1);
  });

  it('all tasks for a chain of fetched documents have one time limit together, and nothing of it is stored', async (t) => {
    const { clock, workers } = timedWorkers(() => 300);
    const { service, web, fetched } = await rigOf(t, { workers });
    for (const { uri, document } of chainOf(ALLOWED, 60)) web.set(uri, document);
    const creating = service.models.create('city', { name: 'Bench', schema: { $ref: `${ALLOWED}/0` } });
    const { kind, errors } = await rejection(creating, SchemaRefusedError);
    assert.equal(kind, 'schemaTooCostly');
    assert.deepEqual(errors, [{ pointer: '/schema', detail: 'processing the schema takes too much time' }]);
    assert.deepEqual([clock.spentMs, fetched.length], [DEADLINE_MS, 6]);
    assert.equal((await service.store.references.list({ limit: 1, offset: 0 })).total, 0);
  });

  it('all tasks for a chain of contexts have one time limit together', async (t) => {
    const { clock, workers } = timedWorkers(() => 300);
    const { service, web } = await rigOf(t, { workers });
    for (let index = 0; index < 10; index += 1)
      web.set(`${ALLOWED}/${index}`, { '@context': `${ALLOWED}/${index + 1}` });
    const creating = service.contexts.create('chain', `${ALLOWED}/0`, { baseUrl: BASE_URL });
    const { errors } = await rejection(creating, ContextInvalidError);
    const detail = 'Processing the context takes too much time.';
    assert.deepEqual([errors, clock.spentMs], [[{ pointer: '/@context', detail }], DEADLINE_MS]);
    clock.spentMs = 0;
    const read = service.contextLoader.termsOf(JSON.stringify(`${ALLOWED}/0`), BASE_URL);
    await rejection(read, TaskTooCostlyError);
    assert.equal(clock.spentMs, DEADLINE_MS);
  });

  it('an update, its context and its comparison have one time limit together, whatever is too costly', async (t) => {
    const before = plainSchema({ seats: { type: 'integer' } });
    const after = plainSchema({ seats: { type: 'string' } });
    for (const [tooCostly, outcome] of [
      [() => true, 'schemaTooCostly'],
      [(kind: string) => kind === 'acceptVersion', 'schemaTooCostly'],
      [(kind: string) => kind === 'composeContext', 'contextInvalid'],
      [(kind: string) => kind === 'contextTerms', 'version'],
      [(kind: string) => kind === 'compareSchemas', 'version'],
      [(_: string, input: object) => 'withWitnesses' in input, 'version'],
    ] as const) {
      let isCostly = false;
      const { clock, workers } = timedWorkers((kind, input) =>
        isCostly && tooCostly(kind, input) ? Infinity : 10,
      );
      const { service } = await rigOf(t, { workers });
      await service.models.create('city', { name: 'Bench', schema: before, compatibility: 'none' });
      isCostly = true;
      clock.spentMs = 0;
      const change = { schema: after, context: { seats: 'https://own.example/seats' } };
      const written = await service.models
        .put(KEY, change, { baseUrl: BASE_URL })
        .catch((error: unknown) => error as { readonly kind: string });
      assert.equal('kind' in written ? written.kind : written.outcome, outcome);
      assert.ok(clock.spentMs <= DEADLINE_MS, `${clock.spentMs} ms`);
    }
  });
});
