import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stopAll, type Answer } from '../support/gateway-harness.js';
import { CAR, CAR_WITH_BRAND, etagOf, makeModel, SLOW_CAR, startApi, type ApiClient } from './api-client.js';
import { words } from '../support/words.js';
import { column, columns } from '../support/columns.js';

after(stopAll);

interface Model {
  readonly name: string;
  readonly version: number;
  readonly schema: unknown;
  readonly description?: string;
  readonly contextBase?: string;
  readonly compatibility: string;
  readonly outcome?: string;
  readonly change?: { readonly overall: string; readonly differences: readonly unknown[] };
}

function faultsOf(answer: Answer): readonly string[] {
  return (
    (answer.problem() as { readonly errors?: readonly Fault[] }).errors?.map(({ pointer }) => pointer) ?? []
  );
}

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

describe('models', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
    await api.post('/domains', { name: 'Mobility' });
  });

  it('models are created with 201, Location and ETag, and read by that Location with their schema', async () => {
    const body = {
      name: 'Bus',
      description: 'Runs on roads',
      schema: CAR,
      contextBase: 'https://city.test/terms#',
      compatibility: 'backward',
    };
    const created = await api.post('/domains/Mobility/models', body);
    assert.equal(created.status, 201);
    assert.equal(created.headers.get('location'), `${api.url}/domains/Mobility/models/Bus`);
    const { schema, version, ...model } = created.json() as Model;
    assert.deepEqual(schema, CAR);
    assert.equal(version, 1);
    assert.equal(model.description, body.description);
    assert.equal(model.contextBase, body.contextBase);
    assert.equal(model.compatibility, 'backward');
    const read = await api.get('/domains/Mobility/models/Bus');
    assert.deepEqual(read.json(), created.json());
    assert.equal(etagOf(read), etagOf(created));
  });

  it('models that many clients update at once without If-Match accept every update, and give each a version', async () => {
    const path = '/domains/Mobility/models/Busy';
    const schema = (n: number) => ({ ...CAR, properties: { ...CAR.properties, [`a${n}`]: { const: n } } });
    await api.put(path, { schema: schema(0) });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => api.put(path, { schema: schema(n + 1) })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const versions = answers.map((answer) => (answer.json() as Model).version);
    assert.deepEqual(
      versions.toSorted((one, other) => one - other),
      Array.from({ length: 30 }, (_, n) => n + 2),
    );
    for (const answer of answers.slice(0, 3)) {
      const { version, schema } = answer.json() as Model;
      assert.deepEqual(((await api.get(`${path}?version=${version}`)).json() as Model).schema, schema);
    }
  });

  it('earlier versions of a model can be read by number, and writes do not accept their ETag', async () => {
    const path = '/domains/Mobility/models/Old';
    await api.post('/domains/Mobility/models', { name: 'Old', description: 'first', schema: CAR });
    await api.put(path, { schema: CAR_WITH_BRAND, description: 'second' });
    const answers = await Promise.all(
      ['', '?version=1', '?version=2'].map(async (query) => api.get(`${path}${query}`)),
    );
    const shown = answers.map((answer) => {
      const { version, description, schema } = answer.json() as Model;
      return [version, description, schema];
    });
    assert.deepEqual(shown, [
      [2, 'second', CAR_WITH_BRAND],
      [1, 'first', CAR],
      [2, 'second', CAR_WITH_BRAND],
    ]);
    const [now, first] = answers;
    assert.ok(first !== undefined && now !== undefined && etagOf(first) !== etagOf(now));
    const stale = await api.put(path, { schema: CAR }, { 'if-match': etagOf(first) });
    assert.equal(stale.status, 412);
    assert.equal((await api.get(`${path}?version=3`)).status, 404);
  });

  it('a bare JSON Schema posted as a model is refused with one error that says what to send', async () => {
    const raw = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://a.example/schema.json',
      title: 'Truck',
      description: 'Carries things',
      type: 'object',
      allOf: [],
      required: ['id'],
      properties: {},
      $schemaVersion: '1.0',
    };
    const posted = await api.post('/domains/Mobility/models', raw);
    const put = await api.put('/domains/Mobility/models/Bus', raw);
    for (const [answer, form] of [
      [posted, '{"name": "Truck", "schema": …}'],
      [put, '{"schema": …}'],
    ] as const) {
      assert.equal(answer.status, 422, answer.text);
      const errors = answer.problem()['errors'] as readonly Fault[];
      assert.deepEqual(column(errors, 'pointer'), ['']);
      assert.ok(errors[0]?.detail.endsWith(form), errors[0]?.detail);
    }
    const unnamed = await api.post('/domains/Mobility/models', { schema: CAR, properties: {} });
    assert.deepEqual((unnamed.problem()['errors'] as readonly Fault[]).length, 2);
  });

  it('models are listed in their domain, without their schemas, in pages', async () => {
    await api.post('/domains', { name: 'Lines' });
    for (const name of ['Tram', 'Ferry', 'Bike'])
      assert.equal((await api.post('/domains/Lines/models', { name, schema: CAR })).status, 201);
    const page = await api.get('/domains/Lines/models?limit=2');
    assert.equal(page.headers.get('x-total-count'), '3');
    const models = page.json() as readonly Model[];
    assert.deepEqual(columns(models, 'name', 'schema'), [
      ['Bike', undefined],
      ['Ferry', undefined],
    ]);
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? [];
    const rest = (await api.get(next.slice(api.url.length))).json() as readonly Model[];
    assert.deepEqual(column(rest, 'name'), ['Tram']);
  });

  it('models cannot be created twice, or in a domain that does not exist', async () => {
    await api.post('/domains/Mobility/models', { name: 'Once', schema: CAR });
    const again = await api.post('/domains/Mobility/models', { name: 'Once', schema: CAR_WITH_BRAND });
    assert.equal(again.status, 409);
    assert.match(again.problem().type, /AlreadyExists$/);
    const nowhere = await api.post('/domains/Nowhere/models', { name: 'Car', schema: CAR });
    assert.equal(nowhere.status, 404);
    assert.match(nowhere.problem().detail ?? '', /domain "Nowhere"/);
  });

  it('models get a new version by PUT, unless the schema is the same', async () => {
    const model = await makeModel(api, 'Mobility', 'Van');
    const updated = await api.put(model, { schema: CAR_WITH_BRAND });
    assert.equal(updated.status, 200);
    const { version, schema, outcome, change } = updated.json() as Model;
    assert.deepEqual([version, outcome, change?.overall], [2, 'version', 'compatible']);
    assert.deepEqual(schema, CAR_WITH_BRAND);
    const same = await api.put(model, { schema: CAR_WITH_BRAND });
    assert.equal((same.json() as Model).outcome, 'unchanged');
    assert.equal(etagOf(same), etagOf(updated));
    const settings = await api.put(model, { schema: CAR_WITH_BRAND, description: 'Carries things' });
    assert.equal((settings.json() as Model).outcome, 'settings');
    assert.equal((settings.json() as Model).version, 2);
    assert.notEqual(etagOf(settings), etagOf(updated));
    const cleared = (await api.put(model, { schema: CAR_WITH_BRAND, description: null })).json() as Model;
    assert.equal(cleared.description, undefined);

    const versions = await api.get(`${model}/versions`);
    assert.equal(versions.headers.get('x-total-count'), '2');
    const list = versions.json() as readonly { version: number; change?: string; caller?: string }[];
    assert.deepEqual(columns(list, 'version', 'change', 'caller'), [
      [1, undefined, 'anonymous'],
      [2, 'compatible', 'anonymous'],
    ]);
    const first = await api.get(`${model}/versions?version=1`);
    assert.deepEqual(first.json(), list.slice(0, 1));
    assert.equal(first.headers.get('x-total-count'), '1');
    assert.deepEqual((await api.get(`${model}/versions?version=1&offset=1`)).json(), []);
    assert.equal((await api.get(`${model}/versions?version=3`)).status, 404);
    const second = (await api.get(`${model}/versions?offset=1&limit=1`)).json() as readonly Model[];
    assert.equal(second[0]?.version, 2);
  });

  it('null removes an optional member of a model or domain; for other members it is 422 with a pointer', async () => {
    const context = { speed: 'https://terms.example/speed' };
    const model = await makeModel(api, 'Mobility', 'Nulls', CAR, { context, description: 'Old' });
    for (const target of [model, '/domains/Mobility/models/None'])
      for (const member of ['schema', 'status'])
        for (const query of ['', '?dryRun=true']) {
          const schema = member === 'schema' ? {} : { schema: CAR };
          const refused = await api.put(`${target}${query}`, { ...schema, [member]: null });
          assert.deepEqual([refused.status, faultsOf(refused)], [422, [`/${member}`]], refused.text);
        }
    const before = etagOf(await api.get(model));
    assert.equal((await api.put(model, { schema: null, description: 'New' })).status, 422);
    assert.equal(etagOf(await api.get(model)), before);

    const cleared = await api.put(model, {
      context: null,
      description: null,
      contextBase: null,
      compatibility: null,
      sunset: null,
    });
    assert.equal(cleared.status, 200, cleared.text);
    const { context: left, description } = cleared.json() as Readonly<Record<string, unknown>>;
    assert.deepEqual([left, description], [undefined, undefined]);

    for (const member of words(`
      schema context description contextBase compatibility status sunset
    `)) {
      const body = { name: 'New', schema: CAR, [member]: null };
      const refused = await api.post('/domains/Mobility/models', body);
      assert.deepEqual([refused.status, faultsOf(refused)], [422, [`/${member}`]], refused.text);
    }
    for (const member of ['name', 'description', 'compatibility']) {
      const refused = await api.post('/domains', { name: 'New', [member]: null });
      assert.deepEqual([refused.status, faultsOf(refused)], [422, [`/${member}`]], refused.text);
    }
    await api.post('/contexts', { name: 'nulls', '@context': context });
    for (const refused of [
      await api.post('/contexts', { name: 'others', '@context': null }),
      await api.put('/contexts/nulls', { '@context': null }),
    ])
      assert.deepEqual([refused.status, faultsOf(refused)], [422, ['/@context']], refused.text);
  });

  it('a dry run compares a schema with the current version of a model, and writes nothing', async () => {
    const model = await makeModel(api, 'Mobility', 'Truck');
    const before = await api.get(model);
    for (const [schema, overall, pointer] of [
      [CAR_WITH_BRAND, 'compatible', '/properties/brand'],
      [SLOW_CAR, 'narrowing', '/properties/speed/maximum'],
      [{ ...CAR, required: ['id', 'type', 'speed'] }, 'narrowing', '/required'],
    ] as const) {
      const dry = await api.put(`${model}?dryRun=true`, { schema });
      assert.equal(dry.status, 200);
      const report = dry.json() as {
        dryRun: boolean;
        outcome: string;
        version: number;
        change: { overall: string; differences: { pointer: string }[] };
      };
      assert.deepEqual([report.dryRun, report.outcome, report.version], [true, 'version', 2]);
      assert.equal(report.change.overall, overall);
      assert.ok(
        report.change.differences.some((difference) => difference.pointer.startsWith(pointer)),
        JSON.stringify(report.change.differences),
      );
    }
    const refused = await api.put(`${model}?dryRun=true`, { schema: { type: 'no such type' } });
    assert.equal(refused.status, 422);
    const after = await api.get(model);
    assert.equal(etagOf(after), etagOf(before));
    assert.deepEqual(after.json(), before.json());
  });

  it('the difference of two versions of a model is reported in either order; a missing version is 404', async () => {
    const model = await makeModel(api, 'Mobility', 'Minibus', CAR);
    const diff = async (query: string) => {
      const answer = await api.get(`${model}/versions/diff${query}`);
      assert.equal(answer.status, 200);
      return answer.json() as {
        readonly from: number;
        readonly to: number;
        readonly change: { readonly overall: string };
        readonly pointers: readonly { readonly op: string; readonly pointer: string }[];
        readonly pointersTotal: number;
      };
    };
    const { from, to } = await diff('');
    assert.deepEqual([from, to], [1, 1]);
    await api.put(model, { schema: { ...CAR_WITH_BRAND, title: 'Van' } });
    await api.put(model, { schema: SLOW_CAR });
    const first = await diff('?from=1&to=2');
    assert.deepEqual([first.from, first.to, first.change.overall], [1, 2, 'compatible']);
    assert.deepEqual(first.pointers, [
      { op: 'add', pointer: '/properties/brand' },
      { op: 'add', pointer: '/title' },
    ]);
    assert.equal(first.pointersTotal, 2);
    assert.deepEqual((await diff('')).from, 2);
    assert.deepEqual(await diff(''), await diff('?from=2&to=3'));
    const [there, back] = [await diff('?from=1&to=3'), await diff('?from=3&to=1')];
    assert.notEqual(there.change.overall, 'compatible');
    assert.equal(back.change.overall, 'compatible');
    assert.deepEqual(await diff('?from=2&to=2'), {
      from: 2,
      to: 2,
      change: { overall: 'compatible', differences: [] },
      pointers: [],
      pointersTotal: 0,
    });
    assert.equal((await api.get(`${model}/versions/diff?from=1&to=4`)).status, 404);
    assert.equal((await api.get(`${model}/versions/diff?from=0`)).status, 400);
  });

  it('a diff with only "to" compares with the version before it, and the first version with itself', async () => {
    const model = await makeModel(api, 'Mobility', 'Midibus', CAR);
    await api.put(model, { schema: CAR_WITH_BRAND });
    await api.put(model, { schema: SLOW_CAR });
    for (const [to, from] of [
      [3, 2],
      [2, 1],
      [1, 1],
    ]) {
      const answer = await api.get(`${model}/versions/diff?to=${to}`);
      assert.equal(answer.status, 200);
      const diff = answer.json() as { readonly from: number; readonly to: number };
      assert.deepEqual([diff.from, diff.to], [from, to]);
    }
  });

  it('models with backward compatibility refuse a narrower schema: 409 with the report', async () => {
    const model = await makeModel(api, 'Mobility', 'Taxi', CAR, { compatibility: 'backward' });
    const refused = await api.put(model, { schema: SLOW_CAR });
    assert.equal(refused.status, 409);
    const { type, report } = refused.problem();
    assert.match(type, /incompatible-change$/);
    const { overall, differences } = report as NonNullable<Model['change']>;
    assert.notEqual(overall, 'compatible');
    assert.ok(differences.length > 0);
    assert.equal(((await api.get(model)).json() as Model).version, 1);
    assert.equal((await api.put(`${model}?dryRun=true`, { schema: SLOW_CAR })).status, 409);
    const forced = await api.put(model, { schema: SLOW_CAR, compatibility: 'none' });
    assert.equal(forced.status, 200);
    assert.equal((forced.json() as Model).version, 2);
  });

  it('models are changed and deleted only while their ETag matches If-Match', async () => {
    const model = await makeModel(api, 'Mobility', 'Tandem');
    const stale = etagOf(await api.get(model));
    const current = etagOf(await api.put(model, { schema: CAR_WITH_BRAND }, { 'if-match': stale }));
    for (const [headers, status] of [
      [{ 'if-match': stale }, 412],
      [{ 'if-match': `W/${stale}` }, 412],
      [{ 'if-none-match': '*' }, 412],
      [{ 'if-match': 'unquoted' }, 400],
      [{ 'if-none-match': current }, 400],
    ] as const) {
      for (const query of ['', '?dryRun=true']) {
        const put = await api.put(`${model}${query}`, { schema: SLOW_CAR }, headers);
        assert.equal(put.status, status, JSON.stringify(headers) + query);
      }
      assert.equal((await api.delete(model, headers)).status, status, JSON.stringify(headers));
    }
    const refused = await api.put(model, { schema: SLOW_CAR }, { 'if-match': stale });
    assert.match(refused.problem().type, /precondition-failed$/);
    assert.equal(refused.headers.get('etag'), current);
    assert.equal((await api.put(model, { schema: CAR_WITH_BRAND }, { 'if-match': '*' })).status, 200);
    assert.equal((await api.delete(model, { 'if-match': current })).status, 204);
    assert.equal((await api.get(model)).status, 404);
    for (const headers of [{ 'if-match': '*' }, { 'if-match': current }, { 'if-none-match': '*' }])
      assert.equal((await api.delete(model, headers)).status, 404);
    for (const headers of [{ 'if-match': '*' }, { 'if-match': current }])
      for (const query of ['', '?dryRun=true'])
        assert.equal((await api.put(`${model}${query}`, { schema: CAR }, headers)).status, 412);
    assert.equal((await api.get(model)).status, 404);
  });

  it('PUT creates a model that does not exist, with Location and ETag, in a domain that exists', async () => {
    const model = '/domains/Mobility/models/Tram';
    const dry = await api.put(`${model}?dryRun=true`, { schema: CAR, status: 'draft' });
    assert.deepEqual([dry.status, (dry.json() as Model).outcome], [200, 'created']);
    assert.equal((await api.get(model)).status, 404);
    const made = await api.put(model, { schema: CAR, description: 'On rails' }, { 'if-none-match': '*' });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), `${api.url}${model}`);
    const { outcome, change, ...rest } = made.json() as Model;
    assert.deepEqual([outcome, change], ['created', { overall: 'compatible', differences: [] }]);
    const read = await api.get(model);
    assert.deepEqual(read.json(), rest);
    assert.equal(etagOf(read), etagOf(made));
    const again = await api.put(model, { schema: CAR, description: 'On rails' });
    assert.deepEqual([again.status, (again.json() as Model).outcome], [200, 'unchanged']);
    assert.equal((await api.put(model, { schema: CAR }, { 'if-none-match': '*' })).status, 412);
    const bare = await api.put('/domains/Mobility/models/Boat', { description: 'On water' });
    assert.deepEqual([bare.status, faultsOf(bare)], [422, ['/schema']]);
    assert.equal((await api.put('/domains/Nowhere/models/Tram', { schema: CAR })).status, 404);
    assert.deepEqual(faultsOf(await api.put('/domains/Mobility/models/-1', { schema: CAR })), ['/name']);
    assert.equal((await api.put('/domains/Mobility/models/3DPrinter', { schema: CAR })).status, 201);
  });

  it('a dry run of creating a model makes the same checks, and creates nothing', async () => {
    const models = '/domains/Mobility/models';
    const dry = await api.post(`${models}?dryRun=true`, { name: 'Plane', schema: CAR });
    const { dryRun, outcome, version, warnings } = dry.json() as Record<string, unknown>;
    assert.deepEqual([dry.status, dryRun, outcome, version], [200, true, 'created', 1]);
    assert.ok(Array.isArray(warnings) && warnings.length > 0, 'warns as the creation does');
    assert.equal((await api.get(`${models}/Plane`)).status, 404);
    const refused = await api.post(`${models}?dryRun=true`, { name: 'Plane', schema: { type: 'plane' } });
    assert.equal(refused.status, 422);
    await api.post(models, { name: 'Plane', schema: CAR });
    const twice = await api.post(`${models}?dryRun=true`, { name: 'Plane', schema: CAR });
    assert.equal(twice.status, 409);
  });

  it('PUT without a schema keeps the schema of a model', async () => {
    const model = await makeModel(api, 'Mobility', 'Bike');
    const settings = (await api.put(model, { description: 'Two wheels' })).json() as Model;
    assert.deepEqual([settings.outcome, settings.version, settings.schema], ['settings', 1, CAR]);
    const based = (await api.put(model, { contextBase: 'https://bikes.test/' })).json() as Model;
    assert.deepEqual([based.outcome, based.version, based.schema], ['version', 2, CAR]);
    assert.equal(based.description, 'Two wheels');
    const context = (await api.get(`${model}/context`)).json() as { '@context': readonly unknown[] };
    assert.equal((context['@context'][0] as Record<string, string>)['speed'], 'https://bikes.test/speed');
    const nothing = (await api.put(model, {})).json() as Model;
    assert.equal(nothing.outcome, 'unchanged');
  });

  it("models are deleted with all documents generated from them, unless a context uses the model's context", async () => {
    const model = await makeModel(api, 'Mobility', 'Cargo');
    const using = { name: 'UsesCargo', '@context': [`${api.url}/contexts/Mobility~Cargo`, { x: 'urn:x:x' }] };
    assert.equal((await api.post('/contexts', using)).status, 201);
    const refused = await api.delete(model);
    assert.equal(refused.status, 409);
    assert.match(refused.problem().type, /in-use$/);
    assert.deepEqual(refused.problem()['dependents'], [{ kind: 'context', name: 'UsesCargo', version: 1 }]);
    assert.equal((await api.delete('/contexts/UsesCargo')).status, 204);
    assert.equal((await api.delete(model)).status, 204);
    for (const target of [model, `${model}/schema`, `${model}/versions`, '/contexts/Mobility~Cargo'])
      assert.equal((await api.get(target)).status, 404, target);
  });
});

describe('a schema that cannot be accepted', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
    await api.post('/domains', { name: 'D' });
  });

  const deep = (levels: number): unknown =>
    levels === 0 ? {} : { type: 'object', properties: { a: deep(levels - 1) } };
  const CASES: readonly (readonly [what: string, schema: unknown, type: RegExp, pointer: string])[] = [
    ['is not an object', true, /schema-invalid$/, '/schema'],
    [
      'has a wrong keyword',
      { type: 'object', properties: { a: { type: 'text' } } },
      /schema-invalid$/,
      '/schema/properties/a/type',
    ],
    [
      'has an invalid pattern',
      { properties: { a: { pattern: '(' } } },
      /schema-invalid$/,
      '/schema/properties/a/pattern',
    ],
    [
      'has an unsupported draft',
      { $schema: 'http://json-schema.org/draft-03/schema#' },
      /schema-dialect-unsupported$/,
      '/schema/$schema',
    ],
    ['is too deep', deep(120), /schema-too-large$/, `/schema${'/properties/a'.repeat(100)}`],
    ['refers to itself endlessly', { allOf: [{ $ref: '#' }] }, /schema-invalid$/, '/schema/allOf/0/$ref'],
    [
      'refers to a missing part',
      { allOf: [{ $ref: 'https://nowhere.test/a.json#/x' }, { $ref: '#/$defs/b' }] },
      /schema-reference-dangling$/,
      '/schema/allOf/0/$ref',
    ],
  ];
  for (const [what, schema, type, pointer] of CASES) {
    it(`a schema that cannot be accepted (it ${what}) is 422 with its pointer, for a new model and for an update`, async () => {
      const model = await makeModel(api, 'D', 'Fixed');
      for (const refused of [
        await api.post('/domains/D/models', { name: 'New', schema }),
        await api.put(model, { schema }),
        await api.put(`${model}?dryRun=true`, { schema }),
      ]) {
        assert.equal(refused.status, 422, refused.text);
        assert.match(refused.problem().type, type);
        const errors = refused.problem()['errors'] as readonly Fault[];
        assert.ok(
          errors.some((fault) => fault.pointer.startsWith(pointer)),
          JSON.stringify(errors),
        );
        assert.ok(errors.every(({ detail }) => detail !== ''));
      }
      assert.equal((await api.get('/domains/D/models/New')).status, 404);
      assert.equal((await api.delete(model)).status, 204);
    });
  }

  it('a model with another invalid member is refused with its pointer', async () => {
    for (const [member, value] of [
      ['name', 'no name'],
      ['contextBase', 'not an IRI'],
      ['contextBase', 7],
      ['compatibility', 'sideways'],
      ['description', 'x'.repeat(4001)],
      ['version', 3],
    ] as const) {
      const refused = await api.post('/domains/D/models', { name: 'New', schema: CAR, [member]: value });
      assert.equal(refused.status, 422, member);
      assert.match(refused.problem().type, /body-invalid$/);
      assert.deepEqual(faultsOf(refused), [`/${member}`]);
    }
    const model = await makeModel(api, 'D', 'Unchanged');
    const stored = await api.get(model);
    for (const [member, value] of [
      ['contextBase', 'terms'],
      ['description', '\0'],
    ] as const)
      assert.equal((await api.put(model, { schema: CAR, [member]: value })).status, 422, member);
    assert.deepEqual((await api.get(model)).json(), stored.json());
    const empty = await api.post('/domains/D/models', {});
    const details = (empty.problem()['errors'] as readonly Fault[]).map(({ detail }) => detail).join();
    assert.match(details, /"name".*"schema"/);
  });
});
