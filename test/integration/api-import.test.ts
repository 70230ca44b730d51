import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, describe, it } from 'node:test';
import type { ImportedFile, ImportReport } from '../../sidecar/schemas/repository/transfer.js';
import { tarGz, zip } from '../support/archives.js';
import { send, stopAll, type Answer, type LogLine } from '../support/gateway-harness.js';
import {
  cityRepository,
  COMMON_URL,
  cityWithoutExamples,
  commonSchema,
  completeRepository,
  contextsRepository,
  entriesOf,
  entitySchema,
} from '../support/repositories.js';
import { type ApiClient, makeModel, startApi } from './api-client.js';
import { words } from '../support/words.js';
import { column, columns } from '../support/columns.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

const GZIP = { 'content-type': 'application/gzip' };
const DOMAIN = 'dataModel.City';

/** Contexts are exported as they are served, with the URL of the service. */
const PUBLIC = { PUBLIC_URL: 'http://public.example' };

/**
 * Empty gateways that tests reuse, with their warm workers; starting one takes longer than most
 * tests here.
 */
const gateways = new Map<string, ApiClient>();

/**
 * Returns a gateway that stores nothing.
 * @param which for tests that need several at once
 */
async function emptyApi(which: 'one' | 'other' = 'one'): Promise<ApiClient> {
  const api = gateways.get(which) ?? (await startApi(PUBLIC)).api;
  gateways.set(which, api);
  const domains = (await names(api, '/domains')).map((name) => `/domains/${name}`);
  const models = await Promise.all(
    domains.map(async (domain) =>
      (await names(api, `${domain}/models`)).map((name) => `${domain}/models/${name}`),
    ),
  );
  const contexts = (await api.get('/contexts')).json() as readonly { name: string; kind: string }[];
  const custom = contexts.filter(({ kind }) => kind === 'custom').map(({ name }) => `/contexts/${name}`);
  let left = [...models.flat(), ...domains, ...custom];
  // Contexts can name each other, and a context that another one names cannot be deleted.
  while (left.length > 0) {
    const inUse: string[] = [];
    for (const target of left)
      if ((await api.delete(target, { 'if-match': '*' })).status === 409) inUse.push(target);
    assert.ok(inUse.length < left.length, inUse.join());
    left = inUse;
  }
  for (const uri of await names(api, '/references?limit=1000'))
    await remove(api, `/references?uri=${encodeURIComponent(String(uri))}`);
  return api;
}

async function remove(api: ApiClient, target: string): Promise<void> {
  const answer = await api.delete(target, { 'if-match': '*' });
  assert.equal(answer.status, 204, answer.text);
}

type Files = Readonly<Record<string, unknown>>;

function reportOf(answer: Answer): ImportReport {
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as ImportReport;
}

/** Imports files as a tar.gz. */
async function importing(api: ApiClient, files: Files, query = ''): Promise<ImportReport> {
  const raw = await tarGz(entriesOf(files));
  return reportOf(await api.send('POST', `/import${query}`, { raw, headers: GZIP }));
}

async function exported(api: ApiClient, query = ''): Promise<Buffer> {
  const response = await fetch(`${api.url}/export${query}`);
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

const statuses = ({ files }: ImportReport) =>
  Object.fromEntries(files.map(({ path, url, status }) => [url ?? path, status]));

const fileOf = ({ files }: ImportReport, path: string): ImportedFile =>
  files.find((file) => file.path === path) ?? assert.fail(`${path} is not in the report`);

/** The number of the first line that contains a text. */
const lineOf = (content: unknown, text: string) =>
  JSON.stringify(content, null, 2)
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1;

const names = async (api: ApiClient, path: string) =>
  ((await api.get(path)).json() as readonly { name?: string; uri?: string }[]).map(
    ({ name, uri }) => name ?? uri,
  );

it('an import refuses the models of a domain that cannot be created, and so does a dry run', async () => {
  const api = await emptyApi();
  await api.post('/contexts', { name: 'Taken', '@context': { a: 'https://terms.example/a' } });
  for (const query of ['?domain=Taken&dryRun=true', '?domain=Taken']) {
    const report = await importing(api, completeRepository(), query);
    const { status, reason = '' } = fileOf(report, 'Lamp/schema.json');
    assert.equal(status, 'refused');
    assert.deepEqual(report.summary.domains, []);
    assert.match(reason, /^Its domain Taken cannot be created\. There is already a context "Taken"/);
  }
  assert.deepEqual(await names(api, '/domains'), []);
});

it('relative $refs of a repository never resolve to the files of another repository', async () => {
  const api = await emptyApi();
  const city = (height: string): Files => ({
    'Bench/schema.json': { properties: { type: { const: 'Bench' }, height: { type: height } } },
    'Tree/schema.json': {
      properties: { type: { const: 'Tree' }, height: { $ref: '../Bench/schema.json#/properties/height' } },
    },
  });
  await importing(api, city('number'), '?domain=North');
  const { dependents } = await importing(api, city('string'), '?domain=South');
  assert.deepEqual(dependents, []);
  const tree = { id: 'urn:ngsi-ld:Tree:1', type: 'Tree', height: 3 };
  for (const [domain, valid] of [
    ['North', true],
    ['South', false],
  ] as const) {
    const answer = await api.post(`/validate/${domain}/Tree?form=keyvalues`, tree);
    assert.equal((answer.json() as { valid: boolean }).valid, valid, domain);
  }
  const { summary } = await importing(api, city('number'), '?domain=North');
  assert.deepEqual([summary.created, summary.updated], [0, 0]);
});

it('an import stores the models, documents and contexts of a repository, and changes nothing the second time', async () => {
  const api = await emptyApi();
  const first = await importing(api, completeRepository());
  assert.deepEqual(first.summary, {
    dryRun: false,
    domains: [DOMAIN],
    created: 7,
    updated: 0,
    unchanged: 0,
    refused: 0,
    // The README, the CSV, two files of tools, and a JSON document of another kind.
    ignored: 5,
    models: 2,
    examples: { valid: 2, invalid: 1, unchecked: 0, kept: 3, leftOut: 0 },
  });
  assert.deepEqual(await names(api, `/domains/${DOMAIN}/models`), ['Bench', 'Lamp']);
  const before = await exported(api);
  const second = await importing(api, completeRepository());
  assert.deepEqual([...new Set(Object.values(statuses(second)))], ['unchanged']);
  assert.deepEqual(second.summary.examples, first.summary.examples);
  assert.ok(before.equals(await exported(api)));
  const versions = (await api.get(`/domains/${DOMAIN}/models/Bench/versions`)).json() as readonly unknown[];
  assert.equal(versions.length, 1);
});

it('an import gives models the IRIs of their own context, and their entities validate', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  const entity = { id: 'urn:ngsi-ld:Bench:1', type: 'Bench', seats: 3 };
  const context = [`${api.url}/contexts/${DOMAIN}~Bench`];
  const answer = await api.post('/workbench/jsonld/expand', { document: entity, context });
  const { result } = answer.json() as { readonly result: readonly Readonly<Record<string, unknown>>[] };
  assert.deepEqual(Object.keys(result[0] ?? {}).sort(), ['@id', '@type', 'https://terms.example/city/seats']);
  const verdict = (await api.post(`/validate/${DOMAIN}/Bench`, entity)).json() as {
    readonly valid: boolean;
  };
  assert.equal(verdict.valid, true);
});

it('an import stores contexts under the URLs that contexts and examples name, so that each example expands', async () => {
  const api = await emptyApi();
  const files = contextsRepository();
  const dry = await importing(api, files, '?dryRun=true');
  const first = await importing(api, files);
  assert.deepEqual(statuses(first), statuses(dry));
  assert.deepEqual([...new Set(Object.values(statuses(first)))], ['created']);
  const examples = Object.entries(files).filter(([path]) => path.includes('/examples/'));
  assert.equal(examples.length, 3);
  for (const [path, document] of examples) {
    const answer = await api.post('/workbench/jsonld/expand', { document });
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    assert.match(answer.text, /https:\/\/terms\.example\/city\/(?:seats|power)/, path);
  }
  const raw = await exported(api);
  const second = await importing(api, files);
  assert.deepEqual([...new Set(Object.values(statuses(second)))], ['unchanged']);
  assert.ok(raw.equals(await exported(api)));
  // The context in Lamp/ names this one.
  const published = encodeURIComponent('https://models.example/dataModel.City/context.jsonld');
  assert.equal((await api.delete(`/references?uri=${published}`)).status, 409);
  const ofDomain = await exported(api, `?domain=${DOMAIN}`);
  const other = await emptyApi('other');
  const copy = reportOf(await other.send('POST', '/import', { raw: ofDomain, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(copy)))], ['created']);
});

it('an import gives the same result from a tar.gz, a zip, a form with files or an archive, and from JSON', async () => {
  const files = completeRepository();
  const json = Object.fromEntries(Object.entries(files).filter(([, content]) => typeof content !== 'string'));
  const form = new FormData();
  for (const { name, content = '' } of entriesOf(files)) form.append('files', new Blob([content]), name);
  const archive = new FormData();
  archive.append('archive', new Blob([await tarGz(entriesOf(files, 'dataModel.City-main/'))]), 'city.tar.gz');
  const found: unknown[] = [];
  for (const [type, body] of [
    ['application/gzip', await tarGz(entriesOf(files))],
    ['application/zip', zip(entriesOf(files))],
    ['application/json', JSON.stringify({ documents: json })],
    [undefined, form],
    [undefined, archive],
  ] as const) {
    const api = await emptyApi();
    const headers = type === undefined ? {} : { 'content-type': type };
    const { summary } = reportOf(await send(api.url, 'POST', '/import', { body, headers }));
    const { created, models, examples, domains } = summary;
    found.push({ created, models, examples, domains, bytes: (await exported(api)).toString('base64') });
  }
  for (const one of found) assert.deepEqual(one, found[0]);
});

it('a dry run of an import reports the same as the import, and writes nothing', async () => {
  const api = await emptyApi();
  const dry = await importing(api, completeRepository(), '?dryRun=true');
  assert.deepEqual(await names(api, '/domains'), []);
  assert.deepEqual(await names(api, '/references'), []);
  const { summary, ...done } = await importing(api, completeRepository());
  const { summary: tried, ...rest } = dry;
  assert.deepEqual(rest, done);
  assert.deepEqual(tried, { ...summary, dryRun: true });
});

it('an import names a missing document with its URL, the line and the fix, and stores the other files', async () => {
  const api = await emptyApi();
  const report = await importing(api, cityRepository());
  const bench = fileOf(report, 'Bench/schema.json');
  assert.equal(bench.status, 'refused');
  assert.equal(report.summary.models, 0, 'a refused model does not count');
  assert.match(bench.reason ?? '', new RegExp(`missing: ${COMMON_URL}.*PUT /api/v2/references`));
  const text = JSON.stringify(cityRepository()['Bench/schema.json'], null, 2).split('\n');
  assert.match(text[(bench.line ?? 0) - 1] ?? '', /\$ref/);
  assert.equal(fileOf(report, 'city-schema.json').status, 'created');
  await api.put(`/references?uri=${COMMON_URL}`, commonSchema());
  assert.equal((await importing(api, cityRepository())).summary.refused, 0);
});

it('an import reports broken files with their lines, and stores the rest', async () => {
  const api = await emptyApi();
  const wrong = { ...entitySchema('Wrong', 'x'), minProperties: -1 };
  const deep = `${'['.repeat(600)}${']'.repeat(600)}`;
  const entries = [
    ...entriesOf({
      ...completeRepository(),
      'Tram/schema.json': '{\n  "type": "object",\n  "a": tru\n}',
      'Twice/schema.json': '{\n"a": 1,\n"a": 2}',
      'Deep/schema.json': deep,
      'Wrong/schema.json': wrong,
      'context/context.jsonld': '\ufeff{"@context": {}}',
    }),
    { name: 'Bytes/schema.json', content: Buffer.from('{\n"a": "\xff"}', 'latin1') },
    { name: '../out/schema.json', content: '{}' },
  ];
  const raw = await tarGz(entries);
  const report = reportOf(await api.send('POST', '/import', { raw, headers: GZIP }));
  const refused = report.files.filter(({ status }) => status === 'refused');
  assert.deepEqual(columns(refused, 'path', 'line'), [
    ['../out/schema.json', undefined],
    ['Bytes/schema.json', 2],
    ['Deep/schema.json', 1],
    ['Tram/schema.json', 3],
    ['Twice/schema.json', 3],
    ['Wrong/schema.json', lineOf(wrong, 'minProperties')],
  ]);
  for (const { reason } of refused) assert.match(reason ?? '', /^[A-Z].*\.$/s);
  assert.equal(fileOf(report, 'context/context.jsonld').context, `${DOMAIN}-context-context`);
  assert.equal(report.summary.created, 8);
});

it('an import replaces the examples of a model, valid or not, and exports include them', async () => {
  const api = await emptyApi();
  const examples = `/domains/${DOMAIN}/models/Bench/examples`;
  await importing(api, completeRepository());
  assert.deepEqual(await names(api, examples), ['example-wrong.jsonld', 'example.jsonld']);
  const kept = await api.get(`${examples}/example-wrong.jsonld`);
  assert.equal(
    kept.text,
    JSON.stringify(completeRepository()['Bench/examples/example-wrong.jsonld'], null, 2),
  );

  const other = await emptyApi('other');
  const raw = await exported(api);
  const report = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual([report.summary.created, report.summary.examples.kept], [7, 3]);
  assert.equal((await other.get(`${examples}/example-wrong.jsonld`)).text, kept.text);
  assert.ok(raw.equals(await exported(other)));

  const { 'Bench/examples/example-wrong.jsonld': _gone, ...rest } = completeRepository();
  const changed = { ...rest, 'Bench/examples/new.txt.json': {}, 'Bench/examples/_.json': {} };
  for (const query of ['?dryRun=true', '']) {
    const bench = fileOf(await importing(api, changed, query), 'Bench/schema.json');
    assert.deepEqual([bench.status, bench.change, bench.examples?.kept], ['updated', undefined, 2]);
    assert.deepEqual(column(bench.examples?.leftOut ?? [], 'path'), ['Bench/examples/_.json']);
    assert.equal((await names(api, examples)).length, 2);
  }
  assert.deepEqual(await names(api, examples), ['example.jsonld', 'new.txt.json']);
  assert.equal((await importing(api, changed)).summary.updated, 0);
  await importing(api, cityWithoutExamples());
  assert.deepEqual(await names(api, examples), ['example.jsonld', 'new.txt.json'], 'none came with it');
});

it('an import with a changed shared document updates its models, and models of other domains that use it', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  const other = await makeModel(api, 'Other', 'Tree', entitySchema('Tree', 'height'));
  const changed = { ...completeRepository(), 'shared/common-schema.json': commonSchema('number') };
  const dry = await importing(api, changed, '?dryRun=true');
  const report = await importing(api, changed);
  assert.deepEqual(dry.dependents, report.dependents);
  assert.deepEqual(
    report.dependents.map(({ domain, model, status }) => ({ domain, model, status })),
    [{ domain: 'Other', model: 'Tree', status: 'updated' }],
  );
  assert.equal(fileOf(report, 'Bench/schema.json').status, 'updated');
  assert.notEqual(fileOf(report, 'Bench/schema.json').change, 'compatible');
  const bundled = (await api.get(`${other}/schema?bundled=true`)).text;
  assert.match(bundled, /"name":\{"type":"number"/);
});

it('an import updates the models that an interrupted import left with an old document', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  await makeModel(api, 'Other', 'Tree', entitySchema('Tree', 'height'));
  // The state that an interrupted import leaves: only the document has changed.
  await api.put(`/references?uri=${COMMON_URL}`, commonSchema('number'));
  const changed = { ...completeRepository(), 'shared/common-schema.json': commonSchema('number') };
  const report = await importing(api, changed);
  assert.deepEqual(
    report.dependents.map(({ model, status }) => ({ model, status })),
    [{ model: 'Tree', status: 'updated' }],
  );
  assert.deepEqual((await importing(api, changed)).dependents, []);
});

it('an import leaves a model unchanged if its compatibility refuses the change, and says so', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  const model = `/domains/${DOMAIN}/models/Bench`;
  await api.put(model, { compatibility: 'backward' });
  const changed = { ...completeRepository(), 'shared/common-schema.json': commonSchema('number') };
  const report = await importing(api, changed);
  const bench = fileOf(report, 'Bench/schema.json');
  assert.equal(bench.status, 'refused');
  assert.match(bench.reason ?? '', /accepts only backward compatible changes/);
  assert.equal(fileOf(report, 'Lamp/schema.json').status, 'updated');
  assert.match((await api.get(`${model}/schema?bundled=true`)).text, /"name":\{"type":"string"/);
});

it('an import that refuses a context refuses the models that use it, since their IRIs would change', async () => {
  const api = await emptyApi();
  const files = { ...completeRepository(), 'context.jsonld': { '@context': 'https://away.example/context' } };
  const report = await importing(api, files);
  assert.equal(fileOf(report, 'context.jsonld').status, 'refused');
  assert.match(fileOf(report, 'Bench/schema.json').reason ?? '', /context context\.jsonld is refused/);
});

it('an import of documents that refer to each other in circles stores them', async () => {
  // Documents in a circle prevent each other's deletion, so this test needs its own gateway.
  const { api } = await startApi();
  const report = await importing(
    api,
    {
      'Node/schema.json': {
        type: 'object',
        required: ['type'],
        properties: { type: { const: 'Node' }, next: { $ref: '../parts/a.json' } },
      },
      'parts/a.json': { type: 'object', properties: { b: { $ref: 'b.json' } } },
      'parts/b.json': { type: 'object', properties: { a: { $ref: 'a.json' } } },
    },
    '?domain=Circles',
  );
  assert.deepEqual([...new Set(Object.values(statuses(report)))], ['created']);
});

it('a gateway answers other requests during an import of thousands of files', async () => {
  const api = await emptyApi();
  const files = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`notes/${index}.json`, { note: index }]),
  );
  const raw = await tarGz(entriesOf({ ...completeRepository(), ...files }));
  const sent = api.send('POST', '/import', { raw, headers: GZIP });
  const asking = async () => (await api.get('/domains')).status;
  let others = 0;
  while (others < 50 && (await Promise.race([sent, asking()])) === 200) others += 1;
  assert.ok(others > 10, `${others} other requests were answered`);
  assert.equal(reportOf(await sent).summary.ignored, 2_005);
});

describe('an import with a changed context', () => {
  const terms = (iri: string) => ({ '@context': { speed: iri, other: 'https://terms.example/other' } });
  const [SPEED, OTHER] = ['https://terms.example/speed', 'https://terms.example/velocity'];
  const schema = (attribute: string, more: object = {}) => ({
    type: 'object',
    properties: {
      type: { const: 'Car' },
      [attribute]: { type: 'number', description: 'Property. A number' },
    },
    ...more,
  });
  const cars = (context: object, car: object = schema('speed')) => ({
    'Car/schema.json': car,
    'context.jsonld': context,
  });
  const QUERY = '?domain=Traffic';
  const meaning = (detail: string) => ({
    pointer: '/properties/speed',
    class: 'breaking',
    reason: 'meaning',
    detail,
  });
  const CHANGED = meaning(`"speed" means ${OTHER}, meant ${SPEED}`);

  /**
   * Imports files after a dry run that must report the same.
   * @returns the report of the import
   */
  async function importingTwice(api: ApiClient, files: Files, query = QUERY): Promise<ImportReport> {
    const dry = await importing(api, files, `${query}&dryRun=true`);
    const report = await importing(api, files, query);
    assert.deepEqual({ ...dry, summary: { ...dry.summary, dryRun: false } }, report);
    return report;
  }

  const changeOf = ({ status, change, differences }: Partial<ImportedFile>) => [status, change, differences];

  it('an import that gives a term of a context another IRI is a breaking change of the models that follow it', async () => {
    const api = await emptyApi();
    await importing(api, cars(terms(SPEED)), QUERY);
    await api.put('/domains/Traffic/models/Car', { compatibility: 'full' });
    const report = await importingTwice(api, cars(terms(OTHER)));
    assert.equal(fileOf(report, 'context.jsonld').status, 'updated');
    assert.deepEqual(changeOf(fileOf(report, 'Car/schema.json')), ['unchanged', 'breaking', [CHANGED]]);
    const again = await importingTwice(api, cars(terms(OTHER)));
    assert.deepEqual(changeOf(fileOf(again, 'Car/schema.json')), ['unchanged', undefined, undefined]);
  });

  it('an import that changes a context without changing a meaning reports no change of its models', async () => {
    const api = await emptyApi();
    await importing(api, cars(terms(SPEED)), QUERY);
    const spelt = { '@context': { terms: 'https://terms.example/', speed: 'terms:speed', new: 'terms:new' } };
    const report = await importingTwice(api, cars(spelt));
    assert.equal(fileOf(report, 'context.jsonld').status, 'updated');
    assert.deepEqual(changeOf(fileOf(report, 'Car/schema.json')), ['unchanged', undefined, undefined]);
  });

  it('an import reports a changed context together with the changes of the schema, also if it refuses the schema', async () => {
    const api = await emptyApi();
    await importing(api, cars(terms(SPEED)), QUERY);
    await api.put('/domains/Traffic/models/Car', { compatibility: 'backward' });
    const narrowed = schema('speed', { required: ['speed'] });
    const refused = fileOf(
      await importing(api, cars(terms(OTHER), narrowed), `${QUERY}&dryRun=true`),
      'Car/schema.json',
    );
    const reasons = (file: ImportedFile) => file.differences?.map(({ reason }) => reason).sort();
    assert.deepEqual(
      [refused.status, refused.change, reasons(refused)],
      ['refused', 'breaking', ['meaning', 'required']],
    );
    await api.put('/domains/Traffic/models/Car', { compatibility: null });
    const updated = fileOf(await importingTwice(api, cars(terms(OTHER), narrowed)), 'Car/schema.json');
    assert.deepEqual(
      [updated.status, updated.change, reasons(updated)],
      ['updated', 'breaking', ['meaning', 'required']],
    );
  });

  it('an import reports models outside of it that use a changed context, directly or through other contexts', async () => {
    const api = await emptyApi();
    await importing(api, cars(terms(SPEED)), QUERY);
    const context = `${api.url}/contexts/Traffic-context`;
    await api.post('/contexts', { name: 'Above', '@context': [{}, context] });
    for (const [name, own] of [
      ['Direct', 'Traffic-context'],
      ['Fixed', `${context}?version=1`],
      ['Indirect', 'Above'],
      ['Second', 'Other~Direct'],
    ] as const)
      await makeModel(api, 'Other', name, schema('speed'), { context: own });
    const { dependents } = await importingTwice(api, cars(terms(OTHER)));
    assert.deepEqual(
      dependents.map(({ domain, model, ...rest }) => [domain, model, ...changeOf(rest)]),
      ['Direct', 'Indirect', 'Second'].map((name) => ['Other', name, 'unchanged', 'breaking', [CHANGED]]),
    );
  });
});

describe('an import that changes the context of a model', () => {
  const speed = { type: 'number', description: 'Property. A number' };
  const schema = (type: string) => ({ type: 'object', properties: { type: { const: type }, speed } });
  const [OLD, NEW] = ['https://old.example/', 'https://new.example/'];
  const meaning = (pointer: string, term: string) => ({
    pointer,
    class: 'breaking',
    reason: 'meaning',
    detail: `"${term}" means ${NEW}${term}, meant ${OLD}${term}`,
  });
  const differences = [meaning('', 'Car'), meaning('/properties/speed', 'speed')];
  /** Able uses the context of Car, but its files come first. */
  const files = (status: string, contextBase: string) => ({
    'domains/Traffic/Able/schema.json': schema('Able'),
    'domains/Traffic/Able/meta.json': { context: 'Traffic~Car', compatibility: 'full' },
    'domains/Traffic/Car/schema.json': schema('Car'),
    'domains/Traffic/Car/meta.json': { contextBase, status },
  });

  for (const status of ['published', 'draft'])
    it(`an import that changes the context of a ${status} model reports the models that follow it, and so does its dry run`, async () => {
      const api = await emptyApi();
      await importing(api, files(status, OLD));
      const car = `${api.url}/contexts/Traffic~Car`;
      await api.post('/contexts', { name: 'Above', '@context': [{}, car] });
      for (const [name, context] of [
        ['ByName', 'Traffic~Car'],
        ['ByUrl', car],
        ['Indirect', 'Above'],
        ['Second', 'Other~ByName'],
        ...(status === 'published' ? ([['Fixed', `${car}?version=1`]] as const) : []),
      ] as const)
        await makeModel(api, 'Other', name, schema(name), { context });
      const dry = await importing(api, files(status, NEW), '?dryRun=true');
      const report = await importing(api, files(status, NEW));
      assert.deepEqual({ ...dry, summary: { ...dry.summary, dryRun: false } }, report);
      const able = fileOf(report, 'domains/Traffic/Able/schema.json');
      assert.deepEqual([able.status, able.change, able.differences], ['unchanged', 'breaking', differences]);
      assert.deepEqual(
        report.dependents,
        ['ByName', 'ByUrl', 'Indirect', 'Second'].map((model) => ({
          domain: 'Other',
          model,
          status: 'unchanged',
          change: 'breaking',
          differences,
        })),
      );
      assert.deepEqual((await importing(api, files(status, NEW))).dependents, []);
    });

  it('a document that changes a model outside of the import also reports the models that use the context of that model', async () => {
    const api = await emptyApi();
    const common = (more: object) => ({
      $defs: { Commons: { properties: { name: { type: 'string' }, ...more } } },
    });
    const uri = 'https://models.example/common.json';
    await api.put(`/references?uri=${uri}`, common({}));
    const tree = { allOf: [{ $ref: `${uri}#/$defs/Commons` }], properties: { type: { const: 'Tree' } } };
    await makeModel(api, 'Other', 'Tree', tree, { contextBase: NEW });
    // In the order of names, one domain comes before "Other" and one after it.
    for (const domain of ['Able', 'Zoo'])
      await makeModel(api, domain, 'Bus', schema('Bus'), { context: 'Other~Tree' });
    const target = `/references?uri=${uri}&dependents=true`;
    const dry = (await api.put(`${target}&dryRun=true`, common({ speed }))).json() as ImportReport;
    const { dependents } = (await api.put(target, common({ speed }))).json() as ImportReport;
    assert.deepEqual(dry.dependents, dependents);
    assert.deepEqual(
      dependents.map(({ domain, status, change: kind }) => [domain, status, kind]),
      [
        ['Able', 'unchanged', 'breaking'],
        ['Other', 'updated', 'compatible'],
        ['Zoo', 'unchanged', 'breaking'],
      ],
    );
    assert.match(
      JSON.stringify(dependents[0]?.differences),
      /"detail":"\\"speed\\" means https:\/\/new\.example\/speed/,
    );
  });

  it('an import reports its own model if a document changes a model outside whose context the imported model uses', async () => {
    const api = await emptyApi();
    const uri = 'https://models.example/common.json';
    const files = (properties: object) => ({
      'domains/Able/Bus/schema.json': schema('Bus'),
      'domains/Able/Bus/meta.json': { context: 'Other~Tree' },
      'references/common.json': { $defs: { Commons: { properties } } },
      'references/urls.json': { [uri]: 'common.json' },
    });
    await api.put(`/references?uri=${uri}`, files({})['references/common.json']);
    const tree = { allOf: [{ $ref: `${uri}#/$defs/Commons` }], properties: { type: { const: 'Tree' } } };
    await makeModel(api, 'Other', 'Tree', tree, { contextBase: NEW });
    await importing(api, files({}));
    const dry = await importing(api, files({ speed }), '?dryRun=true');
    const report = await importing(api, files({ speed }));
    assert.deepEqual({ ...dry, summary: { ...dry.summary, dryRun: false } }, report);
    const { status, change } = fileOf(report, 'domains/Able/Bus/schema.json');
    assert.deepEqual([status, change], ['unchanged', 'breaking']);
    assert.deepEqual(
      report.dependents.map(({ model, status: became }) => [model, became]),
      [['Tree', 'updated']],
    );
  });
});

it('a refused import names the fault of the body, the domain or the media type', async () => {
  const { api } = await startApi({ IMPORT_LIMIT_BYTES: '20000' });
  const good = await tarGz(entriesOf({ 'Car/schema.json': { type: 'object' } }));
  const deflated = await tarGz([{ name: 'a.txt', content: 'x'.repeat(200_000) }]);
  const cases: readonly (readonly [string, string | Buffer, string, number, RegExp])[] = [
    ['application/zip', '', '?domain=D', 400, /needs a body/],
    ['application/gzip', Buffer.from('no'), '?domain=D', 400, /not a readable tar\.gz/],
    ['application/zip', good, '?domain=D', 400, /not a readable zip/],
    ['application/gzip', Buffer.alloc(20_001), '?domain=D', 413, /IMPORT_LIMIT_BYTES/],
    ['application/gzip', deflated, '?domain=D', 413, /more than 160000 bytes/],
    ['application/gzip', good, '', 400, /parameter domain/],
    ['application/gzip', good, '?domain=-1', 400, /name of a domain/],
    ['application/json', '{"documents": [}', '?domain=D', 400, /line 1, column 16/],
    ['application/json', '{"document": {}}', '?domain=D', 422, /documents/],
    ['application/json', '{"documents": {}, "x": 1}', '?domain=D', 422, /\/x/],
    ['text/plain', 'x', '?domain=D', 415, /application\/gzip or application\/zip/],
    ['multipart/form-data', 'x', '?domain=D', 400, /form/],
    ['multipart/form-data; boundary=b', '--b\r\nbroken', '?domain=D', 400, /form/],
  ];
  for (const [type, raw, query, status, detail] of cases) {
    const answer = await api.send('POST', `/import${query}`, { raw, headers: { 'content-type': type } });
    assert.equal(answer.status, status, `${type} ${query} ${answer.text}`);
    assert.match(answer.problem().detail ?? '', detail);
  }
  assert.equal((await send(api.url, 'POST', '/import?domain=D', {})).status, 400);
  assert.deepEqual(await names(api, '/domains'), []);
});

it('an import by a form that is too large or has fields is refused', async () => {
  const { api } = await startApi({ IMPORT_LIMIT_BYTES: '20000' });
  for (const [sizes, status] of [
    [[20_001], 413],
    [[15_000, 15_000], 413],
    [[15_000, 4000], 200],
  ] as const) {
    const form = new FormData();
    for (const [index, size] of sizes.entries())
      form.append('f', new Blob([JSON.stringify({ x: 'y'.repeat(size - 8) })]), `${index}.json`);
    const answer = await send(api.url, 'POST', '/import?domain=D', { body: form });
    assert.equal(answer.status, status, answer.text);
  }
  const part = (index: number) =>
    `--b\r\ncontent-disposition: form-data; name="f"; filename="${index}"\r\n\r\n1\r\n`;
  const many = {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${Array.from({ length: 20_001 }, (_, index) => part(index)).join('')}--b--\r\n`,
  };
  const { api: patient } = await startApi();
  assert.equal((await send(patient.url, 'POST', '/import?domain=D', many)).status, 413);
  const form = new FormData();
  form.append('domain', 'D');
  assert.equal((await send(api.url, 'POST', '/import?domain=D', { body: form })).status, 400);
});

it('an import is 503 while another one is running', async () => {
  const api = await emptyApi();
  const files = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`n/${index}.json`, {}]));
  const raw = await tarGz(entriesOf({ ...completeRepository(), ...files }));
  const both = await Promise.all([1, 2].map(() => api.send('POST', '/import', { raw, headers: GZIP })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 503]);
  assert.equal((await api.send('POST', '/import', { raw, headers: GZIP })).status, 200);
});

it('an import whose client disconnects stops, is logged as refused without a stack, and is completed by the next import', async () => {
  const { api, log } = await startApi(PUBLIC);
  const models = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`M${index}/schema.json`, entitySchema(`M${index}`, 'x')]),
  );
  const files = { ...completeRepository(), ...models };
  const raw = await tarGz(entriesOf(files));
  const url = new URL(`${api.url}/import`);
  const sent = request(url, { method: 'POST', headers: { ...GZIP, 'content-length': raw.length } });
  sent.on('error', () => {});
  sent.end(raw);
  // By now, some files have been stored.
  while ((await api.get(`/domains/${DOMAIN}/models/Bench`)).status !== 200);
  sent.destroy();
  const isOfImport = ({ msg, path }: LogLine) =>
    msg === 'request failed' || (msg === 'request refused' && path === '/api/v2/import');
  await untilTrue(() => log.lines.some(isOfImport));
  const [{ level, msg, err } = assert.fail(), ...others] = log.lines.filter(isOfImport);
  assert.deepEqual([level, msg, err, others], [30, 'request refused', undefined, []]);
  let answer = await api.send('POST', '/import', { raw, headers: GZIP });
  while (answer.status === 503) answer = await api.send('POST', '/import', { raw, headers: GZIP });
  const { summary } = reportOf(answer);
  assert.ok(summary.unchanged > 0 && summary.refused === 0, JSON.stringify(summary));
  const whole = await emptyApi('other');
  await importing(whole, files);
  assert.ok((await exported(api)).equals(await exported(whole)));
});

it('an export imported into an empty gateway is exported again byte for byte', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  await makeModel(api, 'Other', 'Tree', entitySchema('Tree', 'height'), {
    description: 'A tree.',
    compatibility: 'backward',
    contextBase: 'https://terms.example/trees/',
  });
  await api.put(`/domains/${DOMAIN}/models/Lamp`, {
    schema: { ...entitySchema('Lamp', 'power'), title: 'Lamps' },
  });
  const archive = await exported(api);
  const other = await emptyApi('other');
  const report = reportOf(await other.send('POST', '/import', { raw: archive, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(report)))], ['created']);
  assert.ok(archive.equals(await exported(other)));
  const again = reportOf(await api.send('POST', '/import', { raw: archive, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(again)))], ['unchanged']);
  const versions = (await other.get(`/domains/${DOMAIN}/models/Lamp/versions`)).json() as readonly unknown[];
  assert.equal(versions.length, 2);
  const tree = (await other.get('/domains/Other/models/Tree')).json() as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    [tree['description'], tree['compatibility'], tree['contextBase']],
    ['A tree.', 'backward', 'https://terms.example/trees/'],
  );
});

it('an export with contexts that name others is imported into an empty gateway whatever their order', async () => {
  const api = await emptyApi();
  await api.post('/contexts', { name: 'c', '@context': { speed: 'https://terms.example/speed' } });
  for (const [name, other] of [
    ['b', 'c'],
    ['a', 'b'],
  ] as const)
    await api.post('/contexts', { name, '@context': [{}, `${api.url}/contexts/${other}`] });
  const schema = { type: 'object', properties: { type: { const: 'Car' } } };
  await makeModel(api, 'Other', 'Car', schema, { context: 'a' });
  const raw = await exported(api);
  const other = await emptyApi('other');
  const paths = ['a', 'b', 'c'].map((name) => `contexts/${name}.jsonld`);
  for (const query of ['?dryRun=true', '']) {
    const report = reportOf(await other.send('POST', `/import${query}`, { raw, headers: GZIP }));
    assert.deepEqual(
      report.files.map(({ path, status }) => [path, status]),
      [...paths, 'domains/Other/Car/schema.json'].map((path) => [path, 'created']),
    );
  }
  assert.ok(raw.equals(await exported(other)));
});

it('an import retries refused contexts only while that makes progress, and reports each remaining one once', async () => {
  const api = await emptyApi();
  const url = (name: string) => `${api.url}/contexts/${name}`;
  const files = {
    'contexts/a.jsonld': { '@context': url('b') },
    'contexts/b.jsonld': { '@context': url('none') },
    'contexts/c.jsonld': { '@context': url('d') },
    'contexts/d.jsonld': { '@context': { speed: 'https://terms.example/speed' } },
    'domains/Other/Car/schema.json': entitySchema('Car', 'speed'),
    'domains/Other/Car/meta.json': { context: 'b' },
  };
  const report = await importing(api, files);
  assert.deepEqual(columns(report.files, 'path', 'status'), [
    ['contexts/a.jsonld', 'refused'],
    ['contexts/b.jsonld', 'refused'],
    ['contexts/c.jsonld', 'created'],
    ['contexts/d.jsonld', 'created'],
    ['domains/Other/Car/schema.json', 'refused'],
  ]);
  assert.equal(report.summary.refused, 3);
});

it('an export keeps the history of models with a compatibility, set by the model or by its domain', async () => {
  const api = await emptyApi();
  const needing = (name: string) => ({ properties: { [name]: { type: 'number' } }, required: [name] });
  for (const [name, compatibility] of [
    ['Own', 'backward'],
    ['Follows', null],
  ] as const) {
    const model = await makeModel(api, 'Other', name, needing('height'));
    for (const other of ['width', 'height', 'width']) await api.put(model, { schema: needing(other) });
    await api.put(model, { compatibility });
  }
  const raw = await exported(api);
  const other = await emptyApi('other');
  await other.post('/domains', { name: 'Other', compatibility: 'full' });
  const report = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(report)))], ['created']);
  for (const [name, compatibility] of [
    ['Own', 'backward'],
    ['Follows', 'full'],
  ] as const) {
    const model = `/domains/Other/models/${name}`;
    assert.equal(((await other.get(`${model}/versions`)).json() as readonly unknown[]).length, 4);
    assert.equal(
      ((await other.get(model)).json() as { readonly compatibility: unknown }).compatibility,
      compatibility,
    );
    assert.equal((await other.put(model, { schema: needing('depth') })).status, 409);
  }
  // A domain that exists keeps its own settings.
  await other.put('/domains/Other', { compatibility: null });
  assert.ok(raw.equals(await exported(other)));
  const again = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(again)))], ['unchanged']);
});

it('an export has every version with the documents of its time, so that verdicts stay the same', async () => {
  const api = await emptyApi();
  const uri = `/references?uri=${encodeURIComponent('https://city.example/common.json')}`;
  const heightOf = (part: string) => ({
    schema: { properties: { height: { $ref: `https://city.example/common.json#/$defs/${part}` } } },
  });
  await api.put(uri, { $defs: { size: { type: 'number' } } });
  const model = await makeModel(api, 'Other', 'Tree', heightOf('size').schema);
  await api.put(uri, { $defs: { size: { type: 'string' } } });
  await api.put(model, heightOf('size'));
  await api.put(uri, { $defs: { height: { type: 'boolean' } } });
  const raw = await exported(api);
  const other = await emptyApi('other');
  const report = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual([...new Set(Object.values(statuses(report)))], ['created']);
  const isValid = async (at: ApiClient, version: number, height: unknown) => {
    const tree = { id: 'urn:ngsi-ld:Tree:1', type: 'Tree', height };
    const answer = await at.post(`/validate/Other/Tree?version=${version}`, tree);
    return (answer.json() as { readonly valid: boolean }).valid;
  };
  for (const at of [api, other]) {
    assert.deepEqual([await isValid(at, 1, 1), await isValid(at, 1, 'a')], [true, false]);
    assert.deepEqual([await isValid(at, 2, 1), await isValid(at, 2, 'a')], [false, true]);
  }
  assert.ok(raw.equals(await exported(other)));
});

it('an export of one domain has the documents of its models, and can be imported under another name', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  await makeModel(api, 'Other', 'Tree', { type: 'object', properties: { type: { const: 'Tree' } } });
  const raw = await exported(api, '?domain=Other');
  const other = await emptyApi('other');
  const report = reportOf(await other.send('POST', '/import?domain=Trees', { raw, headers: GZIP }));
  assert.deepEqual(statuses(report), { 'domains/Other/Tree/schema.json': 'created' });
  assert.deepEqual(await names(other, '/domains'), ['Trees']);
  assert.equal((await api.get('/export?domain=Nowhere')).status, 404);
  assert.equal((await api.send('HEAD', '/export')).status, 200);
});

it('an export has models and domains called examples, and an import finds them all', async () => {
  const api = await emptyApi();
  const schema = (height: string) => ({ type: 'object', properties: { [height]: { type: 'number' } } });
  for (const domain of ['example', 'examples', 'Trees'])
    for (const name of ['example', 'examples', 'Tree']) {
      const model = await makeModel(api, domain, name, schema('height'));
      if (name === domain) await api.put(model, { schema: schema('width') });
      // Examples may have these names as well.
      await api.put(`${model}/examples/schema.json`, { type: name, height: 3 });
    }
  const raw = await exported(api);
  const other = await emptyApi('other');
  const report = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual([report.summary.created, report.summary.models], [9, 9]);
  assert.deepEqual(report.summary.examples, { valid: 9, invalid: 0, unchecked: 0, kept: 9, leftOut: 0 });
  assert.ok(raw.equals(await exported(other)));
});

it('an export of one domain has the contexts and documents that its models reach, and no others', async () => {
  const api = await emptyApi();
  const context = { a: 'https://terms.example/a' };
  const code = 'https://raw.githubusercontent.com/acme/models/master/c.jsonld';
  const otherSpelling = code.replace('master', 'refs/heads/master');
  for (const [uri, document] of [
    [code, { '@context': { c: 'https://terms.example/c' } }],
    [otherSpelling, { '@context': { c: 'https://terms.example/c' } }],
    ['https://x.example/base.jsonld', { '@context': { b: 'https://terms.example/b' } }],
    ['https://x.example/all.jsonld', { '@context': ['base.jsonld', context] }],
    ['https://x.example/other.jsonld', { '@context': context }],
  ] as const)
    assert.equal((await api.put(`/references?uri=${encodeURIComponent(uri)}`, document)).status, 201);
  for (const [name, value] of [
    ['inner', ['https://x.example/all.jsonld', code]],
    ['outer', [`${api.url}/contexts/inner`, context]],
    ['stranger', ['https://x.example/other.jsonld', context]],
  ] as const) {
    const answer = await api.post('/contexts', { name, '@context': value });
    assert.equal(answer.status, 201, answer.text);
  }
  const schema = { type: 'object', properties: { type: { const: 'Tree' }, a: { type: 'number' } } };
  await makeModel(api, 'Other', 'Tree', schema, { context: 'outer' });
  const raw = await exported(api, '?domain=Other');
  const other = await emptyApi('other');
  const report = reportOf(await other.send('POST', '/import', { raw, headers: GZIP }));
  assert.deepEqual(statuses(report), {
    'contexts/inner.jsonld': 'created',
    'contexts/outer.jsonld': 'created',
    'domains/Other/Tree/schema.json': 'created',
    [code]: 'created',
    'https://x.example/all.jsonld': 'created',
    'https://x.example/base.jsonld': 'created',
  });
  assert.ok(raw.equals(await exported(other)));
});

describe('an export of versions of contexts that others name', () => {
  const schema = (...attributes: readonly string[]) => ({
    type: 'object',
    properties: {
      type: { const: 'Car' },
      ...Object.fromEntries(attributes.map((name) => [name, { type: 'number' }] as const)),
    },
  });
  const terms = (iri: string) => ({ speed: `https://terms.example/${iri}` });

  async function write(api: ApiClient, name: string, ...versions: readonly unknown[]): Promise<void> {
    for (const [index, context] of versions.entries()) {
      const isFirst = index === 0 && (await api.get(`/contexts/${name}`)).status === 404;
      const answer = await (isFirst
        ? api.post('/contexts', { name, '@context': context })
        : api.put(`/contexts/${name}`, { '@context': context }));
      assert.ok([200, 201].includes(answer.status), answer.text);
    }
  }

  /** The IRI of "speed" in a context. */
  async function speedBy(api: ApiClient, context: string): Promise<unknown> {
    const document = { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 3 };
    const answer = await api.post('/workbench/jsonld/expand', {
      document,
      context: [`${api.url}/contexts/${context}`],
    });
    assert.equal(answer.status, 200, answer.text);
    return Object.keys((answer.json() as { readonly result: readonly object[] }).result[0] ?? {}).find(
      (iri) => iri.includes('speed'),
    );
  }

  /**
   * Imports the export of one service into an empty one, after a dry run that must report the same.
   * The export of the second service must be identical.
   */
  async function transferred(api: ApiClient, query = '', into?: ApiClient): Promise<ApiClient> {
    const raw = await exported(api, query);
    const other = into ?? (await emptyApi('other'));
    const [dry, report, again] = [
      reportOf(await other.send('POST', '/import?dryRun=true', { raw, headers: GZIP })),
      reportOf(await other.send('POST', '/import', { raw, headers: GZIP })),
      reportOf(await other.send('POST', '/import', { raw, headers: GZIP })),
    ];
    const refused = report.files.filter(({ status }) => status === 'refused');
    assert.deepEqual(refused, []);
    assert.deepEqual({ ...dry, summary: { ...dry.summary, dryRun: false } }, report);
    assert.deepEqual([...new Set(Object.values(statuses(report)))], ['created']);
    assert.deepEqual([...new Set(Object.values(statuses(again)))], ['unchanged']);
    assert.ok(raw.equals(await exported(other, query)));
    return other;
  }

  it('an export has the earlier versions of a context that other contexts pin, so that terms keep their meaning', async () => {
    const api = await emptyApi();
    const url = (name: string) => `${api.url}/contexts/${name}`;
    await write(api, 'pc', terms('speed-1'), terms('speed-2'), terms('speed-3'));
    await write(api, 'a-custom', [url('pc?version=1'), {}]);
    await write(api, 'newest', [url('pc?version=3'), {}]);
    await write(api, 'alone', terms('speed-8'), terms('speed-9'));
    await api.put('/references?uri=https://x.example/all.jsonld', { '@context': [url('pc?version=2'), {}] });
    await write(api, 'by-document', ['https://x.example/all.jsonld', {}]);
    await makeModel(api, 'Other', 'Car', schema('speed'), { context: url('pc?version=2') });
    const contexts = ['pc', 'pc?version=1', 'a-custom', 'newest', 'by-document', 'Other~Car'];
    const before = await Promise.all(contexts.map((name) => speedBy(api, name)));
    assert.deepEqual(
      before.map((iri) => String(iri).at(-1)),
      ['3', '1', '1', '3', '2', '2'],
    );
    const other = await transferred(api);
    assert.deepEqual(await Promise.all(contexts.map((name) => speedBy(other, name))), before);
    // If nothing names a version of a context, only the current version is exported.
    assert.equal((await other.get('/contexts/alone?version=2')).status, 404);
    const ofDomain = await transferred(api, '?domain=Other');
    assert.deepEqual(await Promise.all(['pc', 'Other~Car'].map((name) => speedBy(ofDomain, name))), [
      'https://terms.example/speed-3',
      'https://terms.example/speed-2',
    ]);
  });

  it('versions of contexts that refer to each other are imported whatever their order', async () => {
    // The contexts prevent each other's deletion, so this test needs its own gateways.
    const [{ api }, { api: empty }] = [await startApi(PUBLIC), await startApi(PUBLIC)];
    const url = (name: string) => `${api.url}/contexts/${name}`;
    await write(api, 'b', terms('speed-1'));
    await write(api, 'a', [url('b'), {}], terms('speed-2'));
    await write(api, 'b', [url('a?version=2'), {}]);
    await write(api, 'a', [url('b?version=2'), { x: 'https://terms.example/x' }]);
    await write(api, 'c', [url('b?version=1'), url('a?version=1')]);
    const contexts = ['a', 'a?version=1', 'a?version=2', 'b?version=1', 'b', 'c'];
    const before = await Promise.all(contexts.map((name) => speedBy(api, name)));
    const other = await transferred(api, '', empty);
    assert.deepEqual(await Promise.all(contexts.map((name) => speedBy(other, name))), before);
  });

  it("a context that names a version of a model's context is imported after the model", async () => {
    const api = await emptyApi();
    const model = await makeModel(api, 'Other', 'Car', schema('speed'), {
      contextBase: 'https://a.example/',
    });
    await api.put(model, { schema: schema('speed', 'brand') });
    await write(api, 'old-car', [`${api.url}/contexts/Other~Car?version=1`, {}]);
    await write(api, 'car', [`${api.url}/contexts/Other~Car`, {}]);
    await makeModel(api, 'Able', 'Bus', schema('speed'), { context: 'Other~Car' });
    await makeModel(api, 'Other', 'Bus', schema('speed'), { context: 'old-car' });
    const other = await transferred(api);
    for (const name of ['old-car', 'car', 'Able~Bus', 'Other~Bus'])
      assert.equal(await speedBy(other, name), 'https://a.example/speed', name);
  });

  it("an import refuses a context that names a version of a model's context if the import creates a different version", async () => {
    const api = await emptyApi();
    const model = await makeModel(api, 'Other', 'Car', schema('speed'), {
      contextBase: 'https://a.example/',
    });
    await write(api, 'old-car', [`${api.url}/contexts/Other~Car?version=1`, {}]);
    // An export has only the current settings of a model.
    await api.put(model, { contextBase: 'https://b.example/' });
    const raw = await exported(api);
    const other = await emptyApi('other');
    for (const query of ['?dryRun=true', '']) {
      const report = reportOf(await other.send('POST', `/import${query}`, { raw, headers: GZIP }));
      const { status, reason = '' } = fileOf(report, 'contexts/old-car.jsonld');
      assert.equal(status, 'refused');
      assert.match(reason, /^It names version 1 of the context Other~Car, which is different here/);
    }
  });

  it('an import refuses a context if its existing versions differ from those that the export names', async () => {
    const api = await emptyApi();
    const url = `${api.url}/contexts/pc?version=1`;
    await write(api, 'pc', terms('speed-1'), terms('speed-2'));
    await makeModel(api, 'Other', 'Car', schema('speed'), { context: url });
    const raw = await exported(api);
    const other = await emptyApi('other');
    await write(other, 'pc', terms('speed-7'));
    for (const query of ['?dryRun=true', '']) {
      const report = reportOf(await other.send('POST', `/import${query}`, { raw, headers: GZIP }));
      const { status, reason = '' } = fileOf(report, 'contexts/pc.jsonld');
      assert.deepEqual(
        [status, reason],
        ['refused', 'Its version 1 is different here, and contexts refer to it by its number.'],
      );
      const car = fileOf(report, 'domains/Other/Car/schema.json');
      assert.match(car.reason ?? '', /^Its context contexts\/pc\.jsonld is refused/);
    }
    assert.equal(await speedBy(other, 'pc'), 'https://terms.example/speed-7');
    // If the existing versions are the same, the import continues.
    const third = await emptyApi('other');
    await write(third, 'pc', terms('speed-1'));
    const report = reportOf(await third.send('POST', '/import', { raw, headers: GZIP }));
    assert.equal(fileOf(report, 'contexts/pc.jsonld').status, 'updated');
    assert.equal(await speedBy(third, 'Other~Car'), 'https://terms.example/speed-1');
    assert.ok(raw.equals(await exported(third)));
  });

  it('an export of everything that a service can store is imported without loss', async () => {
    const api = await emptyApi();
    await api.post('/domains', { name: 'Other', description: 'All sorts.', compatibility: 'backward' });
    await api.post('/domains', { name: 'Empty', description: 'Nothing yet.' });
    await api.post('/domains', { name: 'Void' });
    for (const name of words(`
      a.jsonld context pc.versions node_modules examples schema.json Z_9-.
    `))
      await write(api, name, terms(`${name}-1`), terms(`${name}-2`));
    const names = ['a.jsonld', 'pc.versions', 'node_modules', 'examples'];
    await write(
      api,
      'pins',
      names.map((name) => `${api.url}/contexts/${name}?version=1`),
    );
    const uri = `https://x.example/${'long/'.repeat(390)}common.json?a=%C3%A9&b=1`;
    await api.put(`/references?uri=${encodeURIComponent(uri)}`, {
      $id: 'https://elsewhere.example/common.json',
      $defs: { Speed: { type: 'number' } },
    });
    await api.put('/references?uri=urn:x:context', { '@context': terms('speed-urn') });
    const car = (more: object = {}) => ({
      $id: 'https://models.example/Car',
      type: 'object',
      properties: { type: { const: 'Car' }, speed: { $ref: `${uri}#/$defs/Speed` }, ...more },
    });
    await makeModel(api, 'Other', 'Draft', car(), { status: 'draft' });
    await makeModel(api, 'Other', 'Leaving', car(), { status: 'deprecated', sunset: '2099-01-31T12:00:00Z' });
    await makeModel(api, 'Other', 'Own', car(), { context: ['Z_9-.', { a: 'https://terms.example/a' }] });
    await makeModel(api, 'Other', 'schema.json', car(), { context: 'pins', compatibility: 'full' });
    await makeModel(api, 'Able', 'Follower', car(), { context: 'Other~Own' });
    const history = await makeModel(api, 'Other', 'History', car());
    await api.put(history, { schema: car({ brand: { type: 'string' } }), status: 'deprecated' });
    const other = await transferred(api);
    assert.equal((await other.get('/references')).headers.get('x-total-count'), '2');
    for (const target of [
      '/domains/Other',
      '/domains/Empty',
      '/domains/Void',
      history,
      '/domains/Other/models/Leaving',
    ]) {
      const [one, two] = (await Promise.all([api.get(target), other.get(target)])).map((answer) => {
        const { createdAt, modifiedAt, ...rest } = answer.json() as Record<string, unknown>;
        assert.ok(createdAt !== undefined && modifiedAt !== undefined);
        return rest;
      });
      assert.deepEqual(one, two, target);
    }
    const header = async (one: ApiClient) => (await one.get(history)).headers.get('deprecation');
    assert.equal(await header(other), await header(api));
  });

  it('an export without models is imported, and so is a model whose sunset has passed', async () => {
    const api = await emptyApi();
    await write(api, 'pc', terms('speed-1'), terms('speed-2'));
    await write(api, 'pins', [`${api.url}/contexts/pc?version=1`, {}]);
    await transferred(api);
    const report = await importing(await emptyApi(), {
      'domains/Other/Car/schema.json': schema('speed'),
      'domains/Other/Car/meta.json': {
        status: 'deprecated',
        deprecatedAt: '2020-01-01T00:00:00.000Z',
        sunset: '2021-01-01T00:00:00.000Z',
      },
    });
    assert.equal(fileOf(report, 'domains/Other/Car/schema.json').status, 'created');
    assert.equal((await api.get('/domains/Other/models/Car')).headers.get('deprecation'), '@1577836800');
  });
});

it('PUT of a shared document with dependents=true updates the models that use it, as its dry run reports', async () => {
  const api = await emptyApi();
  await importing(api, completeRepository());
  const target = `/references?uri=${COMMON_URL}&dependents=true`;
  const dry = await api.put(`${target}&dryRun=true`, commonSchema('number'));
  const { dependents, ...rest } = dry.json() as {
    readonly dependents: readonly { readonly model: string }[];
  };
  assert.deepEqual(rest, { dryRun: true, status: 'updated' });
  assert.deepEqual(column(dependents, 'model'), ['Bench', 'Lamp']);
  const model = `/domains/${DOMAIN}/models/Lamp`;
  assert.match((await api.get(`${model}/schema?bundled=true`)).text, /"name":\{"type":"string"/);
  const put = (await api.put(target, commonSchema('number'))).json() as { readonly dependents: unknown };
  assert.deepEqual(put.dependents, dependents);
  assert.match((await api.get(`${model}/schema?bundled=true`)).text, /"name":\{"type":"number"/);
  const again = (await api.put(target, commonSchema('number'))).json() as typeof put;
  assert.deepEqual(again.dependents, []);
});
