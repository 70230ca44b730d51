import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SchemaRefusedError } from '../../sidecar/schemas/json-schema/errors.js';
import type { ModelTexts } from '../../sidecar/store/index.js';
import { InUseError } from '../../sidecar/store/errors.js';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import {
  BASE_URL,
  jsonOf,
  rejection,
  storedModel,
  useRigs,
  written,
} from '../unit/schemas/models/harness.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';

const PAGES = 'https://acme.github.io/models/common.json';
const RAW = 'https://raw.githubusercontent.com/acme/models/master/common.json';
const MAIN = 'https://raw.githubusercontent.com/acme/models/refs/heads/main/common.json';
const REPORT = 'https://acme.github.io/models/parts.json';

const common = (type: string) => ({ definitions: { Name: { type } } });
const schema = {
  $id: 'https://others.example/Bench/schema.json',
  type: 'object',
  properties: { type: { type: 'string' }, name: { $ref: `${RAW}#/definitions/Name` } },
};
const KEY = { domain: 'city', name: 'Bench' };
const BENCH = { kind: 'model', ...KEY, version: 1 };

const urisOf = ({ version }: ModelTexts) => version.references.map(({ uri }) => uri);

const rigOf = useRigs();

it('a model depends on a document even if it names the document by another spelling of its URL, and follows it', async (t) => {
  const { service } = await rigOf(t);
  const { models, references } = service;
  await references.put(PAGES, common('string'));
  const made = await written(models.create('city', { name: 'Bench', schema }));
  assert.deepEqual(urisOf(made), [PAGES]);
  const bundled = async (number?: number) => {
    const options = { baseUrl: BASE_URL, ...(number === undefined ? {} : { version: number }) };
    return JSON.stringify(jsonOf(await service.documents.of(KEY, 'bundled', options)));
  };
  assert.match(await bundled(), /"Name":\{"type":"string"\}/);
  const used = await rejection(references.delete(PAGES), InUseError);
  assert.deepEqual(used.dependents, [BENCH]);

  await references.put(PAGES, common('number'));
  assert.deepEqual(await references.outdatedModels(PAGES), [KEY]);
  assert.equal((await models.put(KEY, { schema }, { baseUrl: BASE_URL })).outcome, 'version');
  assert.deepEqual(await references.outdatedModels(PAGES), []);
  assert.match(await bundled(), /"Name":\{"type":"number"\}/);
  assert.match(await bundled(1), /"Name":\{"type":"string"\}/);
});

it('all models that use a document are found, page by page', async (t) => {
  /** Each page has a single dependent, whatever the requested limit. */
  const singly = (store: SchemaStore) =>
    storeWith(store, {
      references: over(store.references, {
        dependents: async (uri, { limit, offset }) => {
          const page = await store.references.dependents(uri, { limit: 1, offset: offset / limit });
          return { ...page, total: page.total * limit };
        },
      }),
    });
  const { service } = await rigOf(t, { store: singly });
  await service.references.put(PAGES, common('string'));
  const names = ['Bench', 'Chair', 'Stool'];
  for (const name of names) await service.models.create('city', { name, schema });
  await service.references.put(PAGES, common('number'));
  assert.deepEqual(
    await service.references.outdatedModels(PAGES),
    names.map((name) => ({ domain: 'city', name })),
  );
});

it('a document under the exact URL takes precedence, and an identical one makes no new version', async (t) => {
  const { service } = await rigOf(t);
  const { models, references } = service;
  await references.put(PAGES, common('string'));
  await models.create('city', { name: 'Bench', schema });
  const update = () => models.put(KEY, { schema }, { baseUrl: BASE_URL });
  await references.put(RAW, common('string'));
  assert.deepEqual([(await update()).outcome, await references.outdatedModels(RAW)], ['unchanged', []]);
  await references.put(RAW, common('number'));
  assert.deepEqual(await references.outdatedModels(RAW), [KEY]);
  assert.equal((await update()).outcome, 'version');
  assert.deepEqual(urisOf(await storedModel(service, KEY)), [RAW]);
});

it('a document is missing if different ones are stored under other spellings; the refusal names these', async (t) => {
  const { service } = await rigOf(t);
  await service.references.put(PAGES, common('string'));
  await service.references.put(MAIN, common('number'));
  const { errors } = await rejection(
    service.models.create('city', { name: 'Bench', schema }),
    SchemaRefusedError,
  );
  assert.equal(errors.length, 1);
  for (const url of [PAGES, MAIN]) assert.ok(errors[0]?.detail.includes(url), errors[0]?.detail);
});

it('references within a document resolve by any spelling, and the document is included once', async (t) => {
  const { service } = await rigOf(t);
  await service.references.put(PAGES, common('string'));
  await service.references.put(REPORT, { definitions: { Part: { $ref: 'common.json#/definitions/Name' } } });
  const part = { $ref: `${RAW.replace('common', 'parts')}#/definitions/Part` };
  const properties = { a: part, b: { $ref: `${MAIN}#/definitions/Name` } };
  await service.models.create('city', { name: 'Bench', schema: { type: 'object', properties } });
  assert.deepEqual(urisOf(await storedModel(service, KEY)), [PAGES, REPORT]);
});

it('a context depends on a document even if it names the document by another spelling of its URL', async (t) => {
  const { service } = await rigOf(t);
  const { contexts, models, references } = service;
  const [url, raw] = [PAGES, RAW].map((one) => one.replace('common.json', 'context.jsonld'));
  await references.put(url ?? '', { '@context': { width: 'https://terms.example/width' } });
  await contexts.create('own', [raw ?? ''], { baseUrl: BASE_URL });
  const properties = { type: { type: 'string' }, width: { type: 'number' } };
  await models.create('city', { name: 'Bench', schema: { type: 'object', properties }, context: raw ?? '' });
  const served = await service.documents.of(KEY, 'context', { baseUrl: BASE_URL });
  assert.match(served.bytes.toString(), /terms\.example\/width/);
  const used = await rejection(references.delete(url ?? ''), InUseError);
  assert.deepEqual(used.dependents, [{ kind: 'context', name: 'own', version: 1 }, BENCH]);
});
