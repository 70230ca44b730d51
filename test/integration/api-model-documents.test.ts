import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { words } from '../support/words.js';
import { CAR, CAR_WITH_BRAND, etagOf, makeModel, startApi, type ApiClient } from './api-client.js';

after(stopAll);

interface File {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  readonly url: string;
  readonly uri?: string;
}

const SHARED = 'https://schemas.city.test/shared.json';

let api: ApiClient;
let model: string;
before(async () => {
  ({ api } = await startApi());
  const shared = { definitions: { speed: { type: 'number', minimum: 0 } } };
  await api.put(`/references?uri=${encodeURIComponent(SHARED)}`, shared);
  const schema = {
    ...CAR,
    properties: { ...CAR.properties, speed: { $ref: `${SHARED}#/definitions/speed` } },
  };
  model = await makeModel(api, 'Mobility', 'Car', schema);
  assert.equal((await api.put(model, { schema: CAR_WITH_BRAND })).status, 200);
});

it('the documents of a model are those of the domain in the path, if another domain has a model of that name', async () => {
  const models = [
    await makeModel(api, 'North', 'Car'),
    await makeModel(api, 'South', 'Car', CAR_WITH_BRAND, { contextBase: 'https://south.test/' }),
  ];
  for (const path of ['schema', 'context'])
    for (const query of ['', '?version=1'])
      assert.deepEqual(
        await Promise.all(
          models.map(async (one) => /brand/.test((await api.get(`${one}/${path}${query}`)).text)),
        ),
        [false, true],
        path + query,
      );
});

for (const [path, mediaType, sign] of [
  ['schema', 'application/schema+json', 'properties'],
  ['schema?bundled=true', 'application/schema+json', '$schema'],
  ['openapi', 'application/json', 'openapi'],
  ['context', 'application/ld+json', '@context'],
  ['files/schema.json', 'application/schema+json', 'properties'],
  ['files/openapi.json', 'application/json', 'openapi'],
  ['files/context.jsonld', 'application/ld+json', '@context'],
  ['files/example.jsonld', 'application/ld+json', 'type'],
  ['files/example-normalized.jsonld', 'application/ld+json', 'type'],
] as const) {
  it(`${path} of a model is served as ${mediaType}, for the current version or for a given one`, async () => {
    const current = await api.get(`${model}/${path}`);
    assert.equal(current.status, 200);
    assert.equal(current.headers.get('content-type'), mediaType);
    assert.ok(sign in (current.json() as object));
    const [of = '', others] = path.split('?');
    const versioned = (version: number | string) =>
      api.get(`${model}/${of}?${others === undefined ? '' : `${others}&`}version=${version}`);
    const [first, second] = [await versioned(1), await versioned(2)];
    assert.match(first.text, /speed/);
    assert.equal((await versioned(3)).status, 404);
    for (const wrong of ['0', '-1', 'x', '1.0', '99999999999'])
      assert.equal((await versioned(wrong)).status, 400);
    if (!path.includes('example') && !path.includes('openapi')) assert.equal(second.text, current.text);
    assert.match(path.includes('example') ? 'brand' : second.text, /brand/);
    assert.doesNotMatch(first.text, /brand/);
  });
}

it('the documents of a model are listed as files with name, media type, size and hash, each available at its URL', async () => {
  for (const query of ['', '?version=1']) {
    const list = await api.get(`${model}/files${query}`);
    assert.equal(list.status, 200);
    const files = list.json() as readonly File[];
    assert.deepEqual(
      files.slice(0, 5).map(({ name }) => name),
      words('schema.json openapi.json context.jsonld example.jsonld example-normalized.jsonld'),
    );
    assert.deepEqual(
      files.map(({ uri }) => uri).filter((uri) => uri !== undefined),
      query === '' ? [] : [SHARED],
    );
    for (const { name, mediaType, size, sha256, url } of files) {
      assert.ok(url.startsWith(api.url) && url.endsWith(query), url);
      const file = await api.get(url.slice(api.url.length));
      assert.equal(file.status, 200, name);
      assert.equal(file.headers.get('content-type'), mediaType, name);
      const bytes = Buffer.from(file.text);
      assert.equal(bytes.length, size, name);
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256, name);
    }
  }
});

it('the files of a model come in pages, with the total and a link that keeps the version', async () => {
  const all = (await api.get(`${model}/files?version=1`)).json() as readonly File[];
  assert.ok(all.length > 3);
  const seen: File[] = [];
  let next: string | undefined = `${model}/files?version=1&limit=2`;
  while (next !== undefined) {
    const list = await api.get(next);
    assert.equal(list.status, 200, list.text);
    assert.equal(list.headers.get('x-total-count'), String(all.length));
    const files = list.json() as readonly File[];
    assert.ok(files.length <= 2);
    seen.push(...files);
    const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(list.headers.get('link') ?? '')?.[1];
    assert.equal(link !== undefined, seen.length < all.length);
    next = link?.slice(api.url.length);
  }
  assert.deepEqual(seen, all);
  assert.deepEqual((await api.get(`${model}/files?offset=99`)).json(), []);
  for (const wrong of ['limit=0', 'limit=1001', 'offset=-1'])
    assert.equal((await api.get(`${model}/files?${wrong}`)).status, 400, wrong);
});

it('the documents of a missing model, version or file are 404', async () => {
  for (const target of [
    `${model}/files/nothing.json`,
    `${model}/files/..%2fschema.json`,
    `${model}/files/__proto__`,
    `${model}/files/schema`,
    `${model}/files?version=9`,
    '/domains/Mobility/models/None/schema',
    '/domains/Mobility/models/None/files',
    '/domains/None/models/Car/openapi',
    '/domains/Mobility/models/None/versions',
  ]) {
    assert.equal((await api.get(target)).status, 404, target);
  }
});

it('the documents of a model change their ETag exactly when they change', async () => {
  const path = await makeModel(api, 'Mobility', 'Changing');
  const parts = ['schema', 'context', 'openapi', 'files', 'files/schema.json', 'versions'];
  const etags = async () => Promise.all(parts.map(async (part) => etagOf(await api.get(`${path}/${part}`))));
  const before = await etags();
  assert.deepEqual(await etags(), before);
  await api.put(path, { schema: CAR_WITH_BRAND });
  const after = await etags();
  for (const [index, part] of parts.entries()) assert.notEqual(after[index], before[index], part);
});

it("an example is stored with its faults, served as it was sent, and does not change the model's version", async () => {
  const car = await makeModel(api, 'Examples', 'Car');
  const before = await api.get(car);
  const example = `${car}/examples/example-1.jsonld`;
  const raw = '{ "id": "urn:ngsi-ld:Car:1", "type": "Car",\n  "speed": {"type": "Property", "value": 1.50} }';
  const created = await api.send('PUT', example, { raw, headers: { 'if-none-match': '*' } });
  assert.equal(created.status, 201, created.text);
  const { sha256, ...written } = created.json() as { readonly sha256: string };
  const url = `${api.url}/domains/Examples/models/Car/examples/example-1.jsonld`;
  assert.deepEqual(written, {
    name: 'example-1.jsonld',
    form: 'normalized',
    size: raw.length,
    url,
    valid: true,
    errors: [],
  });
  assert.deepEqual([created.headers.get('location'), etagOf(created)], [url, `"${sha256}"`]);
  const read = await api.get(example);
  assert.deepEqual([read.text, etagOf(read)], [raw, etagOf(created)]);
  assert.equal(read.headers.get('content-type'), 'application/ld+json');
  assert.equal((await api.get(example, { 'if-none-match': etagOf(read) })).status, 304);

  const wrong = { id: 'urn:ngsi-ld:Car:2', type: 'Car', speed: 'fast' };
  assert.equal((await api.put(example, wrong, { 'if-match': '"other"' })).status, 412);
  const replaced = await api.put(example, wrong, { 'if-match': etagOf(read) });
  assert.equal(replaced.status, 200, replaced.text);
  const verdict = replaced.json() as { valid: boolean; errors: readonly { readonly pointer: string }[] };
  assert.deepEqual([verdict.valid, verdict.errors.map(({ pointer }) => pointer)], [false, ['/speed']]);
  const listed = (await api.get(`${car}/examples?limit=1`)).json() as readonly object[];
  assert.deepEqual(listed, [
    {
      name: 'example-1.jsonld',
      form: 'keyvalues',
      size: JSON.stringify(wrong).length,
      sha256: etagOf(replaced).replaceAll('"', ''),
      url,
    },
  ]);
  const lenient = await makeModel(api, 'Examples', 'Any', { type: 'object' });
  for (const [name, valid] of [
    ['v2.json', true],
    ['ld.jsonld', false],
  ] as const) {
    const put = await api.put(`${lenient}/examples/${name}`, { id: 'no URI', type: 'Any' });
    assert.equal((put.json() as { valid: boolean }).valid, valid, name);
  }
  assert.deepEqual((await api.get(car)).json(), before.json());
  assert.equal((await api.delete(example, { 'if-match': etagOf(read) })).status, 412);
  assert.equal((await api.delete(example, { 'if-match': etagOf(replaced) })).status, 204);
  assert.equal((await api.get(example)).status, 404);
});

it('an example is refused if it is not an entity, is too large, has an invalid name, or has no model', async () => {
  const car = await makeModel(api, 'Refusals', 'Car');
  const entity = { id: 'urn:ngsi-ld:Car:1', type: 'Car' };
  for (const [target, raw, status] of [
    [`${car}/examples/a.json`, '{"id":', 400],
    [`${car}/examples/a.json`, '3', 422],
    [`${car}/examples/a.json`, JSON.stringify({ ...entity, note: 'x'.repeat(256 * 1024) }), 413],
    [`${car}/examples/a.txt`, JSON.stringify(entity), 400],
    [`${car}/examples/_a.json`, JSON.stringify(entity), 400],
    ['/domains/Refusals/models/None/examples/a.json', JSON.stringify(entity), 404],
  ] as const)
    assert.equal((await api.send('PUT', target, { raw })).status, status, `${target} ${raw.slice(0, 20)}`);
  assert.deepEqual((await api.get(`${car}/examples`)).json(), []);
  assert.equal((await api.get('/domains/Refusals/models/None/examples')).status, 404);
});
