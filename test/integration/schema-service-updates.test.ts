import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IncompatibleChangeError } from '../../sidecar/schemas/models/errors.js';
import type { ModelChange, SchemaService } from '../../sidecar/schemas/models/index.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { BENCH, COMMON, COMMON_URI, plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  BASE_URL,
  changesOf,
  jsonOf,
  rejection,
  storedModel,
  useRigs,
  written,
} from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };

const SEATS = plainSchema({ seats: { type: 'integer' } });
/** Everything that was valid stays valid. */
const COMPATIBLE = plainSchema({ seats: { type: 'integer' }, colour: { type: 'string' } });
const NARROWING = plainSchema({ seats: { type: 'integer', maximum: 9 } });
const BREAKING = plainSchema({ seats: { type: 'string' } });

function create(service: SchemaService, model: ModelChange & { readonly name?: string } = {}) {
  return written(service.models.create('city', { name: 'Bench', schema: SEATS, ...model }));
}

describe('updating models', () => {
  const rigOf = useRigs();

  it('an update creates a version, and reports the same difference from the previous version then and later', async (t) => {
    const { service } = await rigOf(t);
    await create(service);
    for (const [schema, overall] of [
      [COMPATIBLE, 'compatible'],
      [NARROWING, 'narrowing'],
      [BREAKING, 'breaking'],
    ] as const) {
      const before = await storedModel(service, KEY);
      const update = await service.models.put(KEY, { schema });
      assert.deepEqual([update.outcome, update.change.overall], ['version', overall]);
      assert.equal(update.number, before.version.number + 1);
      const after = await storedModel(service, KEY);
      assert.deepEqual(update.model, after);
      assert.equal(after.schema, JSON.stringify(schema));
      assert.notEqual(after.model.etag, before.model.etag);
    }
    assert.deepEqual(await changesOf(service, KEY), [
      [1, undefined],
      [2, 'compatible'],
      [3, 'narrowing'],
      [4, 'breaking'],
    ]);
  });

  it('an update does not change earlier versions by a single byte', async (t) => {
    const { service } = await rigOf(t);
    await service.references.put(COMMON_URI, COMMON);
    await create(service, { schema: BENCH });
    const options = { version: 1, baseUrl: BASE_URL };
    const kinds = ['schema', 'bundled', 'openapi', 'context', 'example', 'example-normalized'] as const;
    const read = () =>
      Promise.all(
        kinds.map(async (kind) => {
          const { lifecycle: _ofModel, ...document } = await service.documents.of(KEY, kind, options);
          return document;
        }),
      );
    const before = await read();
    await service.references.put(COMMON_URI, { definitions: { Commons: { required: ['colour'] } } });
    await service.models.put(KEY, { schema: { ...BENCH, title: 'Other' }, description: 'other' });
    await service.models.put(KEY, { schema: SEATS, contextBase: 'https://other.example/' });
    assert.deepEqual(await read(), before);
    assert.deepEqual(
      jsonOf(await service.contexts.document('city~Bench', 1)),
      jsonOf(before[3] ?? assert.fail()),
    );
  });

  it('an update needs one worker task, and further ones only for what changes', async (t) => {
    const { service, tasks } = await rigOf(t);
    await create(service);
    assert.deepEqual(tasks.splice(0), ['acceptVersion']);
    for (const same of [SEATS, Object.fromEntries(Object.entries(SEATS).reverse())]) {
      const { outcome } = await service.models.put(KEY, { schema: same });
      assert.deepEqual([outcome, tasks.splice(0)], ['unchanged', ['acceptVersion']]);
    }
    const ofContexts = ['contextTerms', 'contextTerms', 'compareSchemas'];
    const ofOwn = ['composeContext', ...ofContexts];
    for (const [change, further] of [
      [{ schema: plainSchema({ seats: { type: 'integer', maximum: 9 } }) }, ['compareSchemas']],
      [
        { schema: plainSchema({ seats: { type: 'integer', maximum: 5 } }), compatibility: 'backward' },
        ['compareSchemas'],
      ],
      [{ contextBase: 'https://other.example/', compatibility: 'none' }, ofContexts],
      [{ context: { seats: 'https://own.example/seats' } }, ofOwn],
      [{ schema: SEATS, context: { seats: 'https://own.example/places' } }, ofOwn],
      [{ schema: SEATS, compatibility: 'full' }, ['composeContext']],
    ] as const) {
      await service.models.put(KEY, change).catch((error: unknown) => {
        assert.ok(error instanceof IncompatibleChangeError);
      });
      assert.deepEqual(tasks.splice(0), ['acceptVersion', ...further], JSON.stringify(change));
    }
  });

  it('an update is compared with the documents of the previous version, cached or not', async (t) => {
    for (const cacheBytes of [0, undefined]) {
      const { service } = await rigOf(t, cacheBytes === undefined ? {} : { cacheBytes });
      const schema = { $ref: COMMON_URI };
      await service.references.put(COMMON_URI, { maxProperties: 9 });
      await create(service, { schema });
      await service.references.put(COMMON_URI, { maxProperties: 5 });
      const { outcome, change } = await service.models.put(KEY, { schema });
      assert.deepEqual([outcome, change.overall], ['version', 'narrowing']);
    }
  });

  it('a change of one document is not reported of another with the same content', async (t) => {
    const { service } = await rigOf(t);
    const [one, other] = ['urn:example:one', 'urn:example:other'];
    for (const uri of [one, other])
      await service.references.put(uri, { $defs: { seats: { type: 'integer' } } });
    const schema = plainSchema({
      front: { $ref: `${one}#/$defs/seats` },
      back: { type: 'array', items: { $ref: `${other}#/$defs/seats` } },
    });
    await create(service, { schema });
    await service.references.put(one, { $defs: { seats: { type: 'string' } } });
    const { change } = await service.models.put(KEY, { schema });
    assert.deepEqual(
      change.differences.map(({ pointer }) => pointer),
      ['/properties/front', '/$defs/urn:example:one/$defs/seats/type'],
    );
  });

  it('an update with an unchanged schema creates a version if a document it refers to has changed', async (t) => {
    const { service } = await rigOf(t);
    const schema = { $ref: COMMON_URI };
    await service.references.put(COMMON_URI, { maxProperties: 9 });
    await create(service, { schema });
    await service.references.put(COMMON_URI, { maxProperties: 5 });
    assert.equal((await storedModel(service, KEY)).version.number, 1);
    const update = await service.models.put(KEY, { schema });
    assert.deepEqual([update.outcome, update.change.overall], ['version', 'narrowing']);
    for (const [version, maxProperties] of [
      [1, 9],
      [2, 5],
    ] as const) {
      const { bytes } = await service.documents.of(KEY, 'bundled', { version, baseUrl: BASE_URL });
      assert.match(bytes.toString(), new RegExp(`"maxProperties":${maxProperties}`));
    }
  });

  it('an update of the base of the terms creates a version of model and context', async (t) => {
    const { service } = await rigOf(t);
    const standard = await create(service);
    const contextOf = async (version: number) =>
      jsonOf(await service.contexts.document('city~Bench', version));
    const update = await service.models.put(KEY, { schema: SEATS, contextBase: 'https://own.example/' });
    assert.deepEqual([update.outcome, update.change.overall], ['version', 'breaking']);
    assert.match(JSON.stringify(await contextOf(2)), /https:\/\/own\.example\/seats/);
    for (const [number, change] of [
      [3, { schema: SEATS, contextBase: null }],
      [4, { contextBase: 'https://own.example/' }],
      [5, { contextBase: null }],
    ] as const) {
      const { version, model } = await written(service.models.put(KEY, change));
      assert.equal(version.number, number);
      assert.equal(model.contextBase, change.contextBase ?? standard.model.contextBase);
      assert.deepEqual(await contextOf(number), await contextOf(change.contextBase === null ? 1 : 2));
    }
  });
});

describe('the difference of two versions', () => {
  const rigOf = useRigs();

  it('the difference of two versions lists at most a thousand places, and gives their number', async (t) => {
    const { service } = await rigOf(t);
    const schema = (count: number) =>
      plainSchema(Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, {}])));
    await create(service, { schema: schema(0) });
    for (const count of [1000, 1001]) {
      await service.models.put(KEY, { schema: schema(count) });
      const { pointers, pointersTotal } = await service.comparison.diff(KEY, { from: 1 });
      assert.deepEqual([pointers.length, pointersTotal], [1000, count]);
    }
  });
});

describe('a model with a compatibility', () => {
  const rigOf = useRigs();

  it('a model with a compatibility refuses changes of meaning, through the base of its terms or the kind of an attribute', async (t) => {
    const { service } = await rigOf(t);
    const schema = (description: string) => plainSchema({ a: { type: 'string', description } });
    const made = await create(service, {
      schema: schema('Property. x'),
      contextBase: 'https://one.example/',
      compatibility: 'backward',
    });
    for (const [change, pointers] of [
      [{ schema: schema('Property. x'), contextBase: 'https://other.example/' }, ['/properties/a', '']],
      [{ schema: schema('Property. x'), contextBase: null }, ['/properties/a', '']],
      [{ schema: schema('Relationship. x') }, ['/properties/a']],
      [{ schema: schema('Property. x'), contextBase: null, compatibility: 'forward' }, ['/properties/a', '']],
    ] as const) {
      const { report } = await rejection(service.models.put(KEY, change), IncompatibleChangeError);
      assert.equal(report.overall, 'breaking');
      assert.deepEqual(
        report.differences.map(({ pointer, reason }) => [pointer, reason]).sort(),
        pointers.map((pointer) => [pointer, 'meaning']).sort(),
      );
    }
    assert.deepEqual(await storedModel(service, KEY), made);
    const other = { schema: schema('Property. Another text'), contextBase: 'https://one.example/' };
    assert.equal((await service.models.put(KEY, other)).change.overall, 'compatible');
  });

  it('forward compatibility refuses changes that accept more, and full compatibility refuses both directions', async (t) => {
    const { service } = await rigOf(t);
    const optional = plainSchema({ seats: { type: ['integer', 'null'] } });
    await create(service, { compatibility: 'forward' });
    const wider = await rejection(service.models.put(KEY, { schema: optional }), IncompatibleChangeError);
    assert.deepEqual([wider.direction, wider.report.overall], ['forward', 'narrowing']);
    assert.equal((await service.models.put(KEY, { schema: NARROWING })).change.overall, 'narrowing');
    await service.models.put(KEY, { schema: NARROWING, compatibility: 'full' });
    for (const [schema, direction] of [
      [SEATS, 'forward'],
      [plainSchema({ seats: { type: 'integer', maximum: 8 } }), 'backward'],
    ] as const) {
      const refused = await rejection(service.models.put(KEY, { schema }), IncompatibleChangeError);
      assert.equal(refused.direction, direction);
    }
    const same = { ...NARROWING, title: 'Bench' };
    assert.equal((await service.models.put(KEY, { schema: same })).outcome, 'version');
  });

  it('a model without a compatibility uses that of its domain, also after it changes', async (t) => {
    const { service } = await rigOf(t);
    await create(service);
    await create(service, { name: 'Free', compatibility: 'none' });
    await service.domains.update('city', { compatibility: 'backward' });
    assert.equal((await storedModel(service, KEY)).model.compatibility, 'backward');
    await rejection(service.models.put(KEY, { schema: NARROWING }), IncompatibleChangeError);
    const free = { ...KEY, name: 'Free' };
    assert.equal((await service.models.put(free, { schema: NARROWING })).outcome, 'version');
    const inherits = { schema: BREAKING, compatibility: null };
    await rejection(service.models.put(free, inherits), IncompatibleChangeError);
    await service.domains.update('city', { compatibility: null });
    const { model } = await written(service.models.put(free, inherits));
    assert.deepEqual([model.compatibility, model.ownCompatibility], ['none', undefined]);
  });

  it('a model with a compatibility refuses a change that is too complex to prove compatible', async (t) => {
    const { service } = await rigOf(t, {
      workers: (workers) => ({
        run: (kind, input, options) =>
          kind === 'compareSchemas'
            ? Promise.reject(new TaskTooCostlyError('time', 'too slow'))
            : workers.run(kind, input, options),
      }),
    });
    await create(service, { compatibility: 'backward' });
    const refused = await rejection(service.models.put(KEY, { schema: COMPATIBLE }), IncompatibleChangeError);
    assert.equal(refused.report.overall, 'narrowing');
    const lax = await service.models.put(KEY, { schema: COMPATIBLE, compatibility: 'none' });
    assert.deepEqual([lax.outcome, lax.change.overall], ['version', 'narrowing']);
  });
});
