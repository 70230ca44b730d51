import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { validate } from '@readme/openapi-parser';
import { startTestBroker, stopAll } from '../support/gateway-harness.js';
import { ApiClient, CAR, CAR_WITH_BRAND, makeModel, startApi } from './api-client.js';
import type { OpenApi } from './api-description.js';
import { MODEL, REQUESTS, RETENTION } from './api-fake.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

/** The operations of the contract, by path below /api/v2. */
const OPERATIONS = {
  '/domains': 'get post',
  '/domains/{domain}': 'delete get put',
  '/domains/{domain}/context': 'get options',
  '/domains/{domain}/context/warnings': 'get',
  '/models': 'get',
  '/domains/{domain}/models': 'get post',
  '/domains/{domain}/models/{model}': 'delete get put',
  '/domains/{domain}/models/{model}/versions': 'get',
  '/domains/{domain}/models/{model}/versions/diff': 'get',
  '/domains/{domain}/models/{model}/schema': 'get',
  '/domains/{domain}/models/{model}/openapi': 'get',
  '/domains/{domain}/models/{model}/context': 'get options',
  '/domains/{domain}/models/{model}/files': 'get',
  '/domains/{domain}/models/{model}/files/{file}': 'get',
  '/domains/{domain}/models/{model}/examples': 'get',
  '/domains/{domain}/models/{model}/examples/{example}': 'delete get put',
  '/contexts': 'get post',
  '/contexts/{context}': 'delete get options put',
  '/references': 'delete get put',
  '/import': 'post',
  '/export': 'get',
  '/workbench/schema/infer': 'post',
  '/workbench/jsonld/expand': 'post',
  '/workbench/jsonld/compact': 'post',
  '/validate': 'post',
  '/validate/{domain}/{model}': 'post',
  '/purges': 'get post',
  '/purges/{purge}': 'get patch',
  '/purges/{purge}/cancel': 'post',
  '/purges/{purge}/events': 'get',
  '/purges/{purge}/archive': 'delete get',
  '/purges/{purge}/ids': 'delete get',
  '/purges/{purge}/restore': 'post',
  '/scans': 'get post',
  '/scans/{scan}': 'get patch',
  '/scans/{scan}/cancel': 'post',
  '/scans/{scan}/events': 'get',
  '/scans/{scan}/entities': 'get',
  '/retention-policies': 'get post',
  '/retention-policies/preview': 'post',
  '/retention-policies/{retentionPolicy}': 'delete get put',
  '/retention-policies/{retentionPolicy}/preview': 'get',
  '/retention-policies/{retentionPolicy}/run': 'post',
  '/retention-policies/{retentionPolicy}/runs': 'get',
  '/write-policies': 'get post',
  '/write-policies/{writePolicy}': 'delete get put',
  '/write-checks': 'get',
  '/status': 'get',
  '/me': 'get',
  '/openapi.json': 'get options',
};

/** Routes outside the API; they are described with a server of their own. */
const PURGE_OPERATIONS: Readonly<Record<string, string>> = {
  '/ngsi-ld/v1/entities': 'delete servers',
  '/ngsi-ld/v1/temporal/entities': 'delete servers',
};

describe("the API's own OpenAPI document", () => {
  let document: OpenApi;
  before(async () => {
    const { api } = await startApi();
    document = (await api.get('/openapi.json')).json() as OpenApi;
  });

  it("the API's own OpenAPI document is valid OpenAPI 3.1, and self-contained", async () => {
    assert.match(String(document['openapi']), /^3\.1\./);
    const result = await validate(structuredClone(document) as unknown as Parameters<typeof validate>[0]);
    assert.deepEqual(result, { valid: true, warnings: [], specification: 'OpenAPI' });
    for (const [, target = ''] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
      assert.match(target, /^#\/components\/\w+\/\w+$/);
  });

  it("the API's own OpenAPI document lists exactly the operations of the API", () => {
    const found = Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.keys(item).sort().join(' '),
    ]);
    assert.deepEqual(Object.fromEntries(found), { ...OPERATIONS, ...PURGE_OPERATIONS });
    const ids = operations(document).map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
  });

  it("the API's own OpenAPI document gives each member of a body a type, except members that hold schemas, contexts or entities", () => {
    const kinds = ['type', '$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'];
    const untyped = membersIn(document)
      .filter(([, schema]) => !kinds.some((keyword) => Object.hasOwn(schema, keyword)))
      .map(([name]) => name);
    assert.deepEqual([...new Set(untyped)].sort(), ['@context', 'context', 'schema', 'witness']);
  });

  it("the API's own OpenAPI document says which operations may need the token, and describes each path parameter", () => {
    assert.deepEqual(
      (document as { readonly security?: unknown }).security,
      [],
      'the others are open to all',
    );
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of operationsOf(item)) {
        const isWork = /^\/(?:workbench\/|validate)/.test(path);
        const isPrivate = /^\/(?:purges|scans|retention-policies|write-|me$)/.test(path);
        const isWrite = !isWork && ['post', 'put', 'patch', 'delete'].includes(method);
        const { security = [] } = operation as { readonly security?: readonly object[] };
        const needs = (scheme: string) => security.some((one) => scheme in one);
        assert.equal(needs('GatewayToken'), isWrite || isPrivate, `${method} ${path}`);
        const isOpen = /^\/(?:status|openapi\.json|contexts\/\{context\})$|\/context$/.test(path);
        assert.equal(needs('SignIn'), !isOpen || isWrite, `${method} ${path}`);
        const parameters = operation['parameters'] as readonly {
          name: string;
          in: string;
          description: string;
        }[];
        const names = parameters
          .filter((parameter) => parameter.in === 'path')
          .map(({ name }) => `{${name}}`);
        assert.deepEqual(names, path.match(/\{\w+\}/g) ?? [], path);
        for (const { description } of parameters) assert.match(description, /\w{3}/);
      }
    }
  });
});

/** Returns the members described by the schemas in a document, with their schemas. */
function membersIn(value: unknown): readonly (readonly [name: string, schema: object])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (/^examples?$/.test(name)) return [];
    const isMap = name === 'properties' && typeof inner === 'object' && inner !== null;
    const members = isMap ? (Object.entries(inner) as [string, object][]) : [];
    return [...members, ...membersIn(inner)];
  });
}

describe('every status in the OpenAPI document', () => {
  const seen = new Set<string>();
  let document: OpenApi;

  before(async () => {
    const { api, url } = await startApi({ GATEWAY_TOKEN: 'the-shared-secret' });
    document = api.description.document;
    const trusted = await ApiClient.of(url, { 'x-gateway-token': 'the-shared-secret' });
    await mistakes(api, trusted);
    await successes(trusted);
    const broker = await startTestBroker();
    const folder = temporaryFolder();
    const { api: withBroker } = await startApi({
      BROKER_URL: broker.url,
      ARCHIVE_URL: pathToFileURL(folder).href,
    });
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }));
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Bus:${String(index)}`, type: 'Bus' }));
    await preview(withBroker);
    for (const client of [api, trusted, withBroker]) for (const one of client.description.seen) seen.add(one);
  });

  it('the OpenAPI document lists no status that requests do not get', () => {
    const inApi = operations(document).filter(
      ({ operationId }) => !/^purge(?:Temporal)?Entities$/.test(operationId),
    );
    const missing = inApi.flatMap(({ operationId, responses, ...operation }) => {
      // Without sign-in, which is tested separately on every route.
      const { security = [] } = operation as { readonly security?: readonly object[] };
      const hasToken = security.some((one) => 'GatewayToken' in one);
      return Object.keys(responses)
        .filter((status) => status !== 'default' && (hasToken || status !== '401'))
        .map((status) => `${operationId} ${status}`)
        .filter((one) => !seen.has(one));
    });
    assert.deepEqual(missing, []);
  });
});

it('the purge routes have the server, answers and parameters that the OpenAPI document describes', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }));
  const { api, url } = await startApi({ BROKER_URL: broker.url });
  const { paths, components } = (await api.get('/openapi.json')).json() as {
    readonly paths: Readonly<
      Record<string, { readonly servers: readonly { readonly url: string }[]; readonly delete: Operation }>
    >;
    readonly components: { readonly schemas: { readonly PurgePreview: { readonly properties: object } } };
  };
  const previewed = new Set<string>();
  for (const [path, query] of [
    ['/ngsi-ld/v1/entities', 'type=Car&maxAffected=5&record=ids'],
    ['/ngsi-ld/v1/temporal/entities', 'type=Car&attrs=speed&maxPerSecond=50'],
  ] as const) {
    const { servers, delete: operation } = paths[path] ?? assert.fail(path);
    assert.deepEqual(servers, [{ url }]);
    const known = (operation['parameters'] as { readonly name: string }[]).map(({ name }) => name);
    for (const pair of query.split('&')) assert.ok(known.includes(pair.split('=', 1)[0] ?? ''), pair);
    for (const [more, headers, status] of [
      ['&dryRun=true', {}, 200],
      ['', { prefer: 'respond-async' }, 202],
      ['', {}, 204],
    ] as const) {
      const target = more === '' ? query : `${query.replace('&record=ids', '')}${more}`;
      const answer = await fetch(`${url}${path}?${target}`, { method: 'DELETE', headers });
      const text = await answer.text();
      assert.equal(answer.status, status, text);
      const { headers: named = {} } = operation.responses[status] ?? assert.fail(String(status));
      for (const name of Object.keys(named)) assert.ok(answer.headers.has(name), name);
      assert.ok('Purge-Id' in named);
      if (status === 200) for (const name of Object.keys(JSON.parse(text) as object)) previewed.add(name);
    }
  }
  assert.ok(previewed.has('unit') && previewed.has('hints'));
  const described = Object.keys(components.schemas.PurgePreview.properties);
  assert.deepEqual(
    [...previewed].filter((name) => !described.includes(name)),
    [],
  );
});

describe('every operation of the API', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi({ BODY_LIMIT_BYTES: '100000', IMPORT_LIMIT_BYTES: '100000' }));
  });

  it('an unknown query parameter is refused by every operation, with its name', async () => {
    for (const [method, target, body] of REQUESTS) {
      const answer = await api.send(method, `${target}${target.includes('?') ? '&' : '?'}nonsense=1`, {
        body,
      });
      assert.equal(answer.status, 400, `${method} ${target}`);
      assert.match(answer.text, /nonsense/, `${method} ${target}`);
    }
  });

  it('a body that is too large, nested too deeply or of a wrong media type is refused by every operation', async () => {
    await makeModel(api, 'D', 'M', CAR);
    const deep = `${'['.repeat(501)}${']'.repeat(501)}`;
    for (const [method, target, body] of REQUESTS) {
      if (body === undefined) continue;
      const asText = { body, headers: { 'content-type': 'text/plain' } };
      for (const [request, status, reason] of [
        [{ raw: ' '.repeat(100_001) }, 413, /larger than \d+ bytes/],
        [{ raw: deep }, 422, /nested/],
        [asText, 415, /Send application/],
      ] as const) {
        const answer = await api.send(method, target, request);
        assert.equal(answer.status, status, `${method} ${target}`);
        assert.match(answer.text, reason, `${method} ${target}`);
      }
    }
  });
});

type Operation = OpenApi['paths'][string][string];

function operations({ paths }: OpenApi): readonly Operation[] {
  return Object.values(paths).flatMap((item) => operationsOf(item).map(([, operation]) => operation));
}

function operationsOf(item: OpenApi['paths'][string]): readonly [string, Operation][] {
  return Object.entries(item).filter(([name]) => name !== 'servers');
}

/** Sends requests that are invalid in themselves, whatever is stored. */
async function mistakes(open: ApiClient, trusted: ApiClient): Promise<void> {
  for (const [method, target, body] of [
    ...REQUESTS,
    ['GET', '/openapi.json'],
    ['GET', '/status'],
    ['GET', '/me'],
    ['OPTIONS', '/openapi.json'],
    ['OPTIONS', '/contexts/C'],
    ['OPTIONS', `${MODEL}/context`],
    ['OPTIONS', '/domains/D/context'],
  ] as typeof REQUESTS) {
    if (
      !['GET', 'OPTIONS'].includes(method) ||
      /^\/(?:purges|scans|retention-policies|write-|me$)/.test(target)
    )
      await open.send(method, target, { body });
    // Nothing is stored yet.
    await trusted.send(method, target, { body, headers: { 'if-match': '"x"' } });
    await trusted.delete('/domains/D?cascade=true');
    await trusted.delete('/contexts/C');
    await trusted.delete('/references?uri=urn:doc:a');
    await trusted.delete('/retention-policies/R');
    await trusted.delete('/write-policies/W');
  }
}

/** Runs every operation successfully, and writes once with an outdated ETag. */
async function successes(api: ApiClient): Promise<void> {
  const reference = '/references?uri=urn:doc:a';
  await api.put(reference, { definitions: { a: true } });
  await api.put(reference, { definitions: { a: {} } });
  await makeModel(api, 'D', 'M', { ...CAR, allOf: [{ $ref: 'urn:doc:a#/definitions/a' }] });
  const example = `${MODEL}/examples/example.json`;
  for (const body of [{ id: 'urn:a:1', type: 'M' }, { id: 'urn:a:2', type: 'M' }, [7]])
    await api.put(example, body);
  await api.put(MODEL, { schema: CAR_WITH_BRAND });
  await api.put('/domains/D', { description: 'd' });
  await api.post('/domains/D/models?dryRun=true', { name: 'New', schema: CAR });
  await api.put('/domains/D/models/New', { schema: CAR });
  await api.put(`${MODEL}?dryRun=true`, { schema: CAR });
  await api.delete('/domains/D/models/New');
  await api.post('/contexts', { name: 'C', '@context': `${api.url}/contexts/D~M` });
  await api.put('/contexts/C', { '@context': [`${api.url}/contexts/D~M`, { a: 'urn:a:a' }] });
  await api.post('/contexts?dryRun=true', { name: 'New', '@context': {} });
  for (const target of [
    '/openapi.json',
    '/status',
    '/me',
    ...REQUESTS.filter(([method]) => method === 'GET').map(([, one]) => one),
  ]) {
    await api.get(target);
    await api.get(target, { 'if-none-match': '*' });
  }
  await work(api);
  await purges(api);
  await retention(api);
  await writePolicies(api);
  for (const target of ['/openapi.json', '/contexts/C', `${MODEL}/context`, '/domains/D/context'])
    await api.send('OPTIONS', target);
  for (const [method, target, body] of REQUESTS.filter(([method]) => method === 'PUT'))
    await api.send(method, target, { body, headers: { 'if-match': '"x"' } });
  for (const target of ['/contexts/C', example, MODEL, '/domains/D', reference]) {
    await api.delete(target, { 'if-match': '"x"' });
    await api.delete(target);
  }
  await api.delete('/contexts/C');
  await api.delete(MODEL);
  await api.delete(reference);
  await api.delete('/domains/D');
}

/** Runs the operations of the workbench. */
async function work(api: ApiClient): Promise<void> {
  await api.post('/workbench/schema/infer', { speed: 1 });
  await api.post('/validate/D/M', { id: 'urn:a:1', type: 'M' });
  await api.post('/validate', { id: 'urn:a:1', type: 'Car' });
  await api.post('/validate', { id: 'urn:a:1', type: 'Unknown' });
  for (const operation of ['expand', 'compact']) {
    const target = `/workbench/jsonld/${operation}`;
    await api.post(target, { document: { '@id': 'urn:a:1', 'urn:a:b': 1 }, context: {} });
  }
}

/** Starts, changes and cancels purges. */
async function purges(api: ApiClient): Promise<void> {
  const start = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    api.send('POST', '/purges', { body: { target: 'entities', query }, headers });
  const purge = (await start('type=Car')).headers.get('location')?.split('/api/v2')[1] ?? '';
  const events = (await api.get(`${purge}/events`)).text;
  await api.get(`${purge}/events`, { 'last-event-id': /.*^id: (\S+)$/ms.exec(events)?.[1] ?? '' });
  await api.get(purge);
  await api.send('POST', `${purge}/cancel`);
  await api.send('PATCH', purge, { body: { concurrency: 1 } });
  // A purge that is still running or waiting. The tests of jobs cover brokers that delay their
  // deletes.
  const waiting = (await start('type=Car&maxPerSecond=1')).headers.get('location')?.split('/api/v2')[1] ?? '';
  await api.send('PATCH', waiting, { body: { concurrency: 1 } });
}

/** Runs the operations on write policies. */
async function writePolicies(api: ApiClient): Promise<void> {
  const policy = '/write-policies/W';
  await api.post('/write-policies', { name: 'W', mode: 'report' });
  await api.post('/write-policies', { name: 'W', mode: 'report' });
  await api.get(policy);
  await api.get(policy, { 'if-none-match': '*' });
  await api.get('/write-policies', { 'if-none-match': '*' });
  await api.get('/write-checks?policy=W');
  await api.put('/write-policies/-1', { mode: 'report' });
  await api.put(policy, { mode: 'off' });
  await api.delete(policy, { 'if-match': '"x"' });
  await api.delete(policy);
  await api.put(policy, { mode: 'off' });
  await api.delete(policy);
}

/** Runs the operations on retention policies. */
async function retention(api: ApiClient): Promise<void> {
  const policy = '/retention-policies/R';
  await api.post('/retention-policies', { name: 'R', ...RETENTION });
  await api.put(policy, RETENTION);
  await api.put('/retention-policies/-1', RETENTION);
  await api.get(policy);
  await api.get(policy, { 'if-none-match': '*' });
  await api.send('POST', `${policy}/run`, { headers: { 'if-match': '"x"' } });
  await api.send('POST', `${policy}/run`);
  await api.get(`${policy}/runs`);
  await api.get(`${policy}/runs`, { 'if-none-match': '*' });
  await api.delete(policy, { 'if-match': '"x"' });
  await api.delete(policy);
  await api.send('PUT', policy, { body: RETENTION });
  await api.delete(policy);
}

/** Makes the requests that need a working broker: a preview and recorded ids. */
async function preview(api: ApiClient): Promise<void> {
  await scans(api);
  const started = await api.send('POST', '/purges', {
    body: { target: 'entities', query: 'type=Car&record=ids' },
  });
  const purge = started.headers.get('location')?.split('/api/v2')[1] ?? '';
  await api.get(`${purge}/events`);
  await api.get(`${purge}/ids`);
  await api.delete(`${purge}/ids`);
  const archived = await api.send('POST', '/purges', {
    body: { target: 'entities', query: 'type=Bus', archive: 'required' },
  });
  const archive = archived.headers.get('location')?.split('/api/v2')[1] ?? '';
  await api.get(`${archive}/events`);
  await api.get(`${archive}/archive`);
  const restore = await api.send('POST', `${archive}/restore`, { body: {} });
  await api.get(`${restore.headers.get('location')?.split('/api/v2')[1] ?? ''}/events`);
  await api.delete(`${archive}/archive`);
  await api.post('/retention-policies', { name: 'R', ...RETENTION });
  await api.get('/retention-policies/R/preview');
  await api.post('/retention-policies/preview', RETENTION);
}

/** Runs scans that end and have findings with entities. */
async function scans(api: ApiClient): Promise<void> {
  const start = async (body: object) => {
    const { headers } = await api.send('POST', '/scans', { body });
    return headers.get('location')?.split('/api/v2')[1] ?? '';
  };
  const schema = { type: 'object', required: ['speed'] };
  const scan = await start({ query: 'type=Car', schema });
  await api.get(`${scan}/events`);
  const { headers } = await api.get(`${scan}/entities?finding=0`);
  await api.get(`${scan}/entities?finding=0`, { 'if-none-match': headers.get('etag') ?? '' });
  await api.get(scan);
  const events = await api.get(`${scan}/events`);
  const [, last = ''] = /id: (\S+)\n[^]*$/.exec(events.text) ?? [];
  await api.get(`${scan}/events`, { 'last-event-id': last });
  await api.send('PATCH', scan, { body: { maxPerSecond: 1 } });
  const slow = await start({ query: 'type=Car', schema, maxPerSecond: 1 });
  await api.send('PATCH', slow, { body: { maxPerSecond: 2 } });
  await api.send('POST', `${slow}/cancel`);
  await api.get('/scans');
  await api.get('/scans', { 'if-none-match': '*' });
}
