import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bundledContext } from '../../sidecar/schemas/json-ld/core-context.js';
import { createProcessor } from '../../sidecar/schemas/json-ld/processor.js';
import type { JsonObject } from '../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../support/validator.js';
import { FileNotFoundError } from '../../sidecar/schemas/models/errors.js';
import type { ModelDocumentKind, ServedDocument } from '../../sidecar/schemas/models/index.js';
import { exportAll } from '../../sidecar/schemas/repository/export.js';
import { NotFoundError } from '../../sidecar/store/errors.js';
import { TaskFailedError, WorkersBusyError } from '../../sidecar/shared/workers/errors.js';
import { HandClock } from '../support/hand-clock.js';
import { BENCH, COMMON, COMMON_URI, plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  BASE_URL,
  CONTEXT_BASE,
  jsonOf,
  rejection,
  useRigs,
  type Rig,
  type RigOptions,
} from '../unit/schemas/models/harness.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';

const KEY = { domain: 'city', name: 'Bench' };
const CORE_URL = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld';

async function withBench(rig: Rig): Promise<Rig> {
  await rig.service.references.put(COMMON_URI, COMMON);
  await rig.service.models.create('city', { name: 'Bench', description: 'To sit', schema: BENCH });
  return rig;
}

function read({ service }: Rig, kind: ModelDocumentKind, version?: number): Promise<ServedDocument> {
  return service.documents.of(KEY, kind, { version, baseUrl: BASE_URL });
}

describe('documents of models', () => {
  const rigOf = useRigs();

  it('the bundled schema of a model needs no other document, and has the same meaning', async (t) => {
    const rig = await withBench(await rigOf(t));
    const bundled = jsonOf(await read(rig, 'bundled')) as JsonObject;
    const validator = createValidator(resolveReferencesIn(bundled));
    const bench = {
      id: 'urn:ngsi-ld:Bench:1',
      type: 'Bench',
      location: { type: 'Point', coordinates: [1, 2] },
    };
    assert.deepEqual(validator(bench), []);
    assert.notDeepEqual(validator({ ...bench, location: { type: 'Point', coordinates: [1] } }), []);
  });

  it('the examples of a model are valid, name its contexts, and expand to its terms', async (t) => {
    const rig = await withBench(await rigOf(t));
    const { '@context': context, ...example } = jsonOf(await read(rig, 'example')) as JsonObject;
    assert.deepEqual(context, [`${BASE_URL}/api/v2/contexts/city~Bench`, CORE_URL]);
    assert.equal(example['type'], 'Bench');
    assert.equal(example['status'], 'free');
    const bundled = jsonOf(await read(rig, 'bundled')) as JsonObject;
    assert.deepEqual(createValidator(resolveReferencesIn(bundled))(example), []);

    const normalized = jsonOf(await read(rig, 'example-normalized')) as JsonObject;
    assert.deepEqual(normalized['refPark'], { type: 'Relationship', object: example['refPark'] ?? null });
    assert.deepEqual(normalized['location'], { type: 'GeoProperty', value: example['location'] ?? null });
    const documentLoader = async (url: string) => {
      const own = url === `${BASE_URL}/api/v2/contexts/city~Bench`;
      const document = own ? jsonOf(await rig.service.contexts.document('city~Bench')) : bundledContext(url);
      return { documentUrl: url, document };
    };
    const [expanded] = (await createProcessor().expand(normalized, { documentLoader, safe: true })) as [
      JsonObject,
    ];
    assert.deepEqual(expanded['@type'], [`${CONTEXT_BASE}Bench`]);
    assert.ok(`${CONTEXT_BASE}seats` in expanded);
    assert.ok('https://uri.etsi.org/ngsi-ld/location' in expanded);
  });

  it('the examples of a model have an @context that its schema accepts', async (t) => {
    const rig = await rigOf(t);
    const url = `${BASE_URL}/api/v2/contexts/city~Bench`;
    const certain = 'https://terms.example/context.jsonld';
    for (const [context, expected] of [
      [{}, [url, CORE_URL]],
      [{ type: 'array', items: { type: 'string', format: 'uri' } }, [url, CORE_URL]],
      [{ type: 'string', format: 'uri' }, url],
      [{ const: certain }, certain],
      [{ enum: [[certain, CORE_URL], certain] }, [certain, CORE_URL]],
      [{ type: 'array', contains: { const: certain } }, [certain]],
    ] as const) {
      const schema: JsonObject = {
        required: ['id', 'type', '@context'],
        properties: { id: { type: 'string' }, type: { const: 'Bench' }, '@context': context },
        additionalProperties: false,
      };
      await rig.service.models.put(KEY, { schema, status: 'draft' });
      const example = jsonOf(await read(rig, 'example')) as JsonObject;
      assert.deepEqual(example['@context'], expected);
      assert.deepEqual(createValidator(resolveReferencesIn(schema))(example), []);
      const normalized = jsonOf(await read(rig, 'example-normalized')) as JsonObject;
      assert.deepEqual(normalized['@context'], expected);
      const { components } = jsonOf(await read(rig, 'openapi')) as {
        readonly components: { readonly examples: Readonly<Record<string, { readonly value: JsonObject }>> };
      };
      const { normalizedLd, keyValues } = components.examples;
      assert.deepEqual(
        [normalizedLd?.value['@context'], keyValues?.value['@context']],
        [expected, undefined],
      );
    }
  });

  it('documents of a model name the version of the context if a version is requested', async (t) => {
    const rig = await withBench(await rigOf(t));
    for (const kind of ['example', 'example-normalized', 'openapi'] as const) {
      assert.match((await read(rig, kind, 1)).bytes.toString(), /contexts\/city~Bench\?version=1"/);
      assert.doesNotMatch((await read(rig, kind)).bytes.toString(), /\?version=/);
    }
  });

  it('documents of a model are those of the current version if no version is requested', async (t) => {
    const rig = await withBench(await rigOf(t));
    const descriptionOf = async (version?: number) =>
      (jsonOf(await read(rig, 'openapi', version)) as { info: { description: string } }).info.description;
    assert.equal(await descriptionOf(), 'To sit');
    await rig.service.models.put(KEY, { schema: BENCH, description: 'For two' });
    assert.deepEqual([await descriptionOf(), await descriptionOf(1)], ['For two', 'To sit']);
  });

  it('documents of a model are generated once for all requests, concurrent and later ones', async (t) => {
    const { store } = await withBench(await rigOf(t));
    // Another service on the same store, which has not seen how the model was created.
    const domains = over(store.domains, { create: () => store.domains.get('city') });
    const rig = await rigOf(t, { store: () => storeWith(store, { domains }) });
    const kinds = ['bundled', 'openapi', 'example', 'example-normalized', 'openapi', 'bundled'] as const;
    const [first] = await Promise.all(kinds.map((kind) => read(rig, kind)));
    assert.deepEqual([...rig.tasks].sort(), ['describeModel', 'makeExample', 'modelOpenApi']);
    assert.equal((await read(rig, 'bundled')).bytes, first?.bytes);
    assert.equal((await read(rig, 'schema')).bytes, (await read(rig, 'schema')).bytes);
  });

  it('documents of a model are generated again if the cache cannot hold them', async (t) => {
    const rig = await withBench(await rigOf(t, { cacheBytes: 0 }));
    assert.deepEqual(await read(rig, 'openapi'), await read(rig, 'openapi'));
    assert.equal(rig.tasks.filter((task) => task === 'modelOpenApi').length, 2);
  });

  it('documents of a model have the server URL of the request', async (t) => {
    const rig = await withBench(await rigOf(t));
    for (const baseUrl of [BASE_URL, 'https://other.example/gate']) {
      for (const kind of ['openapi', 'example', 'example-normalized'] as const) {
        const { bytes } = await rig.service.documents.of(KEY, kind, { baseUrl });
        assert.ok(bytes.toString().includes(`"${baseUrl}/api/v2/contexts/city~Bench"`), `${baseUrl} ${kind}`);
      }
    }
  });

  it('documents of a new model are not those of a deleted model of the same name', async (t) => {
    const rig = await withBench(await rigOf(t));
    await read(rig, 'bundled');
    await rig.service.store.models.delete(KEY);
    await rejection(read(rig, 'bundled'), NotFoundError);
    await rig.service.references.put(COMMON_URI, { definitions: { Commons: { minProperties: 3 } } });
    await rig.service.models.create('city', { name: 'Bench', schema: BENCH });
    assert.match((await read(rig, 'bundled')).bytes.toString(), /"minProperties":3/);
  });

  it('documents of a model fail while the workers are busy, and succeed afterwards', async (t) => {
    let isBusy = false;
    const rig = await withBench(
      await rigOf(t, {
        workers: (workers) => ({
          run: (kind, input, options) =>
            isBusy ? Promise.reject(new WorkersBusyError(1)) : workers.run(kind, input, options),
        }),
      }),
    );
    isBusy = true;
    await rejection(read(rig, 'openapi'), WorkersBusyError);
    isBusy = false;
    assert.match((await read(rig, 'openapi')).bytes.toString(), /^\{"openapi":"3\.1\.0"/);
  });
});

describe('an export', () => {
  const rigOf = useRigs();

  it('a started export waits while the workers are busy, as long as a client reads it', async (t) => {
    let isBusy = false;
    const workers: RigOptions['workers'] = (given) => ({
      run: (kind, input, options) =>
        isBusy ? Promise.reject(new WorkersBusyError(1)) : given.run(kind, input, options),
    });
    const { service } = await withBench(await rigOf(t, { cacheBytes: 0, workers }));
    // From now on, the schema is exported self-contained.
    await service.references.put(COMMON_URI, { definitions: { Commons: { minProperties: 3 } } });
    const clock = new HandClock();
    const waits = () => clock.sleepers;
    const begin = () => exportAll({ schemas: service, clock }, undefined, BASE_URL);
    const expected = await buffer(await begin());
    isBusy = true;
    const waiting = buffer(await begin());
    while (waits() === 0) await nextTurn();
    await clock.pass(1000);
    assert.equal(waits(), 1);
    isBusy = false;
    await clock.pass(1000);
    assert.ok(expected.equals(await waiting));
    isBusy = true;
    const unread = await begin();
    while (waits() === 0) await nextTurn();
    unread.destroy();
    while (waits() > 0) await nextTurn();
  });
});

describe('files of models', () => {
  const rigOf = useRigs();

  it('files of models include the documents that the schema refers to, under a stable name', async (t) => {
    const { service } = await withBench(await rigOf(t));
    const options = { baseUrl: BASE_URL };
    const [shared] = (await service.files.list(KEY, options)).filter(({ uri }) => uri === COMMON_URI);
    assert.match(shared?.name ?? '', /^common-[0-9a-f]{12}\.json$/);
    assert.deepEqual(jsonOf(await service.files.get(KEY, shared?.name ?? '', options)), COMMON);
    await service.references.put('urn:example:a', { $ref: COMMON_URI });
    await service.models.put(KEY, { schema: { ...BENCH, not: { required: ['x'], $ref: 'urn:example:a' } } });
    const names = (await service.files.list(KEY, options)).map(({ name }) => name);
    assert.ok(names.includes(shared?.name ?? ''));
    assert.equal(new Set(names).size, 7);
  });

  it('files of models include no example if no entity satisfies the schema', async (t) => {
    const { service } = await rigOf(t);
    const options = { baseUrl: BASE_URL };
    for (const [name, schema, reason] of [
      ['Text', { type: 'string' }, /allow no JSON object/],
      ['Never', { type: 'object', allOf: [{ type: 'string' }] }, /allow no JSON object/],
      ['None', { allOf: [{ required: ['a'] }, plainSchema({ a: false })] }, /allow no JSON object/],
      [
        'Faulty',
        { ...plainSchema({ a: { pattern: '^b$', not: { const: 'b' }, type: 'string' } }), required: ['a'] },
        /In the closest attempt, (?:the whole|\/a) /,
      ],
    ] as const) {
      await service.models.create('city', { name, schema });
      const key = { domain: 'city', name };
      const files = await service.files.list(key, options);
      assert.deepEqual(
        files.map((file) => file.name),
        ['schema.json', 'openapi.json', 'context.jsonld'],
        name,
      );
      const missing = await rejection(service.documents.of(key, 'example', options), FileNotFoundError);
      assert.match(missing.message, reason);
      const openapi = jsonOf(await service.documents.of(key, 'openapi', options)) as JsonObject;
      assert.equal((openapi['components'] as JsonObject)['examples'], undefined);
    }
  });

  it('files of models have a reason instead of a normalized example that NGSI-LD cannot express', async (t) => {
    const { service } = await rigOf(t);
    const options = { baseUrl: BASE_URL };
    const weight = { type: 'number', description: 'Relationship. A weight' };
    const schema = { properties: { weight }, required: ['weight'] };
    await service.models.create('city', { name: 'Odd', schema });
    const key = { domain: 'city', name: 'Odd' };
    const files = await service.files.list(key, options);
    assert.ok(files.some(({ name }) => name === 'example.jsonld'));
    assert.ok(!files.some(({ name }) => name === 'example-normalized.jsonld'));
    const refused = await rejection(
      service.documents.of(key, 'example-normalized', options),
      FileNotFoundError,
    );
    assert.match(refused.message, /\/weight\/object must be the URI of an entity/);
    const openapi = jsonOf(await service.documents.of(key, 'openapi', options)) as JsonObject;
    const { examples } = openapi['components'] as { readonly examples: JsonObject };
    assert.deepEqual(Object.keys(examples), ['keyValues']);
  });

  it('files of models include no example that is too costly to generate', async (t) => {
    const { service } = await rigOf(t, {
      workers: (workers) => ({
        run: (kind, input, options) =>
          kind === 'makeExample'
            ? Promise.reject(new TaskFailedError('deep', { cause: new RangeError('stack') }))
            : workers.run(kind, input, options),
      }),
    });
    await service.models.create('city', { name: 'Bench', schema: {} });
    assert.equal((await service.files.list(KEY, { baseUrl: BASE_URL })).length, 3);
  });
});
