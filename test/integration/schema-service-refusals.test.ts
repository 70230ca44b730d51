import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SchemaRefusedError } from '../../sidecar/schemas/json-schema/errors.js';
import { AlreadyExistsError, NotFoundError, UnstorableTextError } from '../../sidecar/store/errors.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { rejection, useRigs } from '../unit/schemas/models/harness.js';
import { InvalidBodyError } from '../../sidecar/shared/errors.js';

const KEY = { domain: 'city', name: 'Bench' };

const rigOf = useRigs();

it('a new model refuses a schema that cannot be bundled into one document', async (t) => {
  const { service } = await rigOf(t);
  const part = { $id: 'https://example.com/part', $dynamicAnchor: 'node' };
  const tree = { $defs: { part: { ...part, properties: { a: { $dynamicRef: '#node' } } } } };
  await service.references.put('https://example.com/tree', tree);
  const anyOf = [{ $ref: 'https://example.com/tree#/$defs/part' }, { $ref: '#/$defs/part' }];
  const schema = { $defs: { part }, anyOf };
  const creating = service.models.create('city', { name: 'Bench', schema });
  const refused = await rejection(creating, SchemaRefusedError);
  assert.deepEqual(
    [refused.kind, refused.errors[0]?.pointer],
    ['schemaNotConvertible', '/schema/anyOf/0/$ref'],
  );
});

it('a new model refuses a schema that is too costly to process after one task', async (t) => {
  const { service, tasks } = await rigOf(t, {
    workers: (workers) => ({
      run: (kind, input, options) =>
        kind === 'acceptVersion'
          ? Promise.reject(new TaskTooCostlyError('time', 'too slow'))
          : workers.run(kind, input, options),
    }),
  });
  const creating = service.models.create('city', { name: 'Bench', schema: {} });
  const refused = await rejection(creating, SchemaRefusedError);
  assert.deepEqual([refused.kind, refused.errors[0]?.pointer], ['schemaTooCostly', '/schema']);
  assert.deepEqual(tasks, ['acceptVersion']);
});

it('a new model with an invalid name, base or text is refused before its schema is read', async (t) => {
  const { service, tasks } = await rigOf(t);
  for (const name of ['', '-a', 'a/b', 'a~b', 'é', '__proto__', 'a'.repeat(129), 'a\n'])
    assert.equal(
      (await rejection(service.models.create('city', { name, schema: {} }), InvalidBodyError)).errors[0]
        ?.pointer,
      '/name',
    );
  for (const contextBase of [
    '',
    'terms',
    'https://a.example/terms',
    'ftp://a.example/',
    'https://a.example/ x/',
  ])
    assert.equal(
      (
        await rejection(
          service.models.create('city', { name: 'A', schema: {}, contextBase }),
          InvalidBodyError,
        )
      ).errors[0]?.pointer,
      '/contextBase',
    );
  const description = 'half \uD800';
  await rejection(service.models.create('city', { name: 'A', schema: {}, description }), UnstorableTextError);
  assert.deepEqual(tasks, []);
});

it('a new model in a missing domain or with an existing name is refused before its schema is checked', async (t) => {
  const { service, tasks } = await rigOf(t);
  const bad = { name: 'Bench', schema: { type: 'objekt' } };
  const missing = await rejection(service.models.create('town', bad), NotFoundError);
  assert.deepEqual(missing.resource, { kind: 'domain', name: 'town' });
  await service.models.create('city', { name: 'Bench', schema: {} });
  const before = tasks.length;
  const taken = await rejection(service.models.create('city', bad), AlreadyExistsError);
  assert.deepEqual(taken.resource, { kind: 'model', ...KEY });
  assert.equal(tasks.length, before);
});
