import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { validate } from '@readme/openapi-parser';
import { ArchiveUnavailableError, ArchiveUnreadableError } from '../../sidecar/archive/index.js';
import { ArchiveInUseError, PurgeCancelledError, QueueFullError } from '../../sidecar/jobs/errors.js';
import { JobSecretError } from '../../sidecar/jobs/job-headers.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
  PolicyRefusedError,
  PurgeStoppedError,
  QueryRefusedError,
  UnexpectedEntityError,
  UnsupportedRequestError,
} from '../../sidecar/purge/index.js';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { SchemaNotAcceptedError } from '../../sidecar/schemas/models/errors.js';
import {
  DependencyChangedError,
  RestoreUnderWayError,
  RunUnderWayError,
  StoreUnavailableError,
} from '../../sidecar/store/errors.js';
import {
  DeadlineExceededError,
  WorkbenchRefusedError,
} from '../../sidecar/schemas/models/workbench-errors.js';
import { WorkersBusyError } from '../../sidecar/shared/workers/errors.js';
import { startTestBroker, stopAll } from '../support/gateway-harness.js';
import { ApiClient, CAR, CAR_WITH_BRAND, makeModel, SLOW_CAR, startApi } from './api-client.js';
import type { OpenApi } from './api-description.js';
import { failingService, MODEL, REQUESTS, RETENTION, startFakeApi } from './api-fake.js';
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

describe('every status and problem in the OpenAPI document', () => {
  const seen = new Set<string>();
  let document: OpenApi;

  before(async () => {
    const { api, url } = await startApi({
      GATEWAY_TOKEN: 'the-shared-secret',
      BODY_LIMIT_BYTES: '100000',
      IMPORT_LIMIT_BYTES: '100000',
    });
    document = api.description.document;
    const trusted = await ApiClient.of(url, { 'x-gateway-token': 'the-shared-secret' });
    await mistakes(api, trusted);
    await successes(trusted);
    const { api: hasty } = await startApi({ WORKBENCH_TIMEOUT_MS: '1' });
    await tooCostly(hasty);
    const broker = await startTestBroker();
    const folder = temporaryFolder();
    const { api: withBroker } = await startApi({
      BROKER_URL: broker.url,
      ARCHIVE_URL: pathToFileURL(folder).href,
    });
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }));
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Bus:${String(index)}`, type: 'Bus' }));
    await preview(withBroker);
    for (const client of [api, trusted, hasty, withBroker, await failures()])
      for (const one of client.description.seen) seen.add(one);
  });

  it('the OpenAPI document lists exactly the statuses and problems that requests get', () => {
    const inApi = operations(document).filter(
      ({ operationId }) => !/^purge(?:Temporal)?Entities$/.test(operationId),
    );
    const missing = inApi.flatMap(({ operationId, responses, ...operation }) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const all = typesOf(response);
        // Without sign-in problems, which are tested separately on every route.
        const { security = [] } = operation as { readonly security?: readonly object[] };
        const hasToken = security.some((one) => 'GatewayToken' in one);
        const types = all.filter(
          (type) => !OF_SIGN_IN.test(type) && (hasToken || !/:unauthorized$/.test(type)),
        );
        if (all.length > 0 && types.length === 0) return [];
        return [status, ...types].map((one) => `${operationId} ${one}`).filter((one) => !seen.has(one));
      }),
    );
    assert.deepEqual(missing, []);
  });
});

it('the purge routes have the server, answers and parameters that the OpenAPI document describes', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }));
  const { api, url } = await startApi({ BROKER_URL: broker.url });
  const { paths, components } = api.description.document as unknown as {
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

/** Deeper than the nesting limit of bodies. */
const TOO_DEEP = `${'['.repeat(501)}${']'.repeat(501)}`;

type Operation = OpenApi['paths'][string][string];

function operations({ paths }: OpenApi): readonly Operation[] {
  return Object.values(paths).flatMap((item) => operationsOf(item).map(([, operation]) => operation));
}

function operationsOf(item: OpenApi['paths'][string]): readonly [string, Operation][] {
  return Object.entries(item).filter(([name]) => name !== 'servers');
}

/** Problems that only occur with AUTH_ISSUER. */
const OF_SIGN_IN = /:(?:token-refused|role-missing|tenant-refused|sign-in-unavailable)$/;

/** Returns the problem types that a response may have. */
function typesOf(response: unknown): readonly string[] {
  const { content } = response as { content?: Readonly<Record<string, { schema: unknown }>> };
  const { allOf } = (content?.['application/problem+json']?.schema ?? { allOf: [] }) as {
    allOf: readonly unknown[];
  };
  return allOf.flatMap(
    (part) => (part as { properties?: { type?: { enum?: readonly string[] } } }).properties?.type?.enum ?? [],
  );
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
    await trusted.send(method, `${target}${target.includes('?') ? '&' : '?'}nonsense=1`, { body });
    if (
      !['GET', 'OPTIONS'].includes(method) ||
      /^\/(?:purges|scans|retention-policies|write-|me$)/.test(target)
    )
      await open.send(method, target, { body });
    // Nothing is stored yet.
    await trusted.send(method, target, { body, headers: { 'if-match': '"x"' } });
    if (body !== undefined) {
      await trusted.send(method, target, { raw: ' '.repeat(100_001) });
      await trusted.send(method, target, { raw: TOO_DEEP });
      await trusted.send(method, target, { body, headers: { 'content-type': 'text/plain' } });
      await trusted.send(method, target, { body: { nonsense: 1 } });
    }
    await trusted.delete('/domains/D?cascade=true');
    await trusted.delete('/contexts/C');
    await trusted.delete('/references?uri=urn:doc:a');
    await trusted.delete('/retention-policies/R');
    await trusted.delete('/write-policies/W');
  }
}

/** Runs every operation successfully, and once refused because of what is stored. */
async function successes(api: ApiClient): Promise<void> {
  const reference = '/references?uri=urn:doc:a';
  await api.put(reference, { definitions: { a: true } });
  await api.put(reference, { definitions: { a: {} } });
  for (const document of [{ $schema: 'http://json-schema.org/draft-03/schema' }, [], nested(300)])
    await api.put(reference, document);
  await makeModel(api, 'D', 'M', { ...CAR, allOf: [{ $ref: 'urn:doc:a#/definitions/a' }] });
  await api.post('/domains', { name: 'D' });
  await api.put('/domains/D', { description: 'd' });
  await api.post('/domains/D/models', { name: 'M', schema: CAR });
  for (const schema of [true, { $schema: 'urn:none' }, nested(300), { $ref: 'urn:none' }]) {
    await api.post('/domains/D/models', { name: 'New', schema });
    await api.put(MODEL, { schema });
  }
  const example = `${MODEL}/examples/example.json`;
  for (const body of [{ id: 'urn:a:1', type: 'M' }, { id: 'urn:a:2', type: 'M' }, [7]])
    await api.put(example, body);
  await api.send('PUT', example, { raw: TOO_DEEP });
  await api.put(MODEL, { schema: CAR_WITH_BRAND });
  await api.put(`${MODEL}?dryRun=true`, { schema: CAR });
  await api.put(MODEL, { status: 'draft' });
  await api.post('/domains/D/models?dryRun=true', { name: 'New', schema: CAR });
  for (const context of ['none', { speed: 'https://terms.test/speed' }]) {
    await api.post('/domains/D/models?dryRun=true', { name: 'New', schema: CAR, context });
    await api.put('/domains/D/models/New', { schema: CAR, context });
  }
  await api.delete('/domains/D/models/New');
  await api.put(MODEL, { schema: SLOW_CAR, compatibility: 'backward' });
  await api.post('/contexts', { name: 'C', '@context': `${api.url}/contexts/D~M` });
  await api.post('/contexts', { name: 'C', '@context': {} });
  await api.post('/contexts', { name: 'New', '@context': 7 });
  await api.put('/contexts/C', { '@context': 7 });
  await api.put('/contexts/C', { '@context': [`${api.url}/contexts/D~M`, { a: 'urn:a:a' }] });
  await api.post('/contexts?dryRun=true', { name: 'New', '@context': {} });
  await api.post('/contexts', {
    name: 'Uses',
    '@context': [`${api.url}/contexts/C`, { size: 'urn:a:size' }],
  });
  await api.put('/contexts/C', { '@context': { '@protected': true, size: 'urn:b:size' } });
  for (const name of ['D~M', 'ngsi-ld-core-context-v1.8']) {
    await api.put(`/contexts/${name}`, { '@context': {} });
    await api.delete(`/contexts/${name}`);
  }
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
  for (const target of ['/contexts/C', example, MODEL, '/domains/D', reference]) {
    await api.delete(target, { 'if-match': '"x"' });
    await api.delete(target);
  }
  for (const [method, target, body] of REQUESTS.filter(([method]) => method === 'PUT'))
    await api.send(method, target, { body, headers: { 'if-match': '"x"' } });
  for (const name of ['Uses', 'C']) await api.delete(`/contexts/${name}`);
  await api.delete(MODEL);
  await api.delete(reference);
  await api.delete('/domains/D');
}

/** Runs the operations of the workbench, with answers and refusals. */
async function work(api: ApiClient): Promise<void> {
  await api.post('/workbench/schema/infer', { speed: 1 });
  await api.post('/validate/D/M', { id: 'urn:a:1', type: 'M' });
  await api.post('/workbench/schema/infer', []);
  await api.post('/validate', { id: 'urn:a:1', type: 'Car' });
  await api.post('/validate', { id: 'urn:a:1', type: 'Unknown' });
  await api.post('/domains', { name: 'E' });
  await api.post('/domains/E/models', { name: 'M', schema: CAR });
  await api.post('/validate', { id: 'urn:a:1', type: 'Car' });
  await api.delete('/domains/E?cascade=true');
  await api.post('/validate', [7]);
  await api.send('POST', '/validate', { raw: TOO_DEEP });
  await api.post('/validate/D/M', [7]);
  await api.send('POST', '/validate/D/M', { raw: TOO_DEEP });
  for (const operation of ['expand', 'compact']) {
    const target = `/workbench/jsonld/${operation}`;
    await api.post(target, { document: { '@id': 'urn:a:1', 'urn:a:b': 1 }, context: {} });
    await api.post(target, { document: { '@context': { a: { '@id': 7 } }, a: 1 } });
    await api.post(target, { document: { '@context': 'https://elsewhere.example/context' } });
    await api.post(target, { document: { '@context': { a: 'urn:a:a' }, a: { '@value': [] } } });
    await api.post(target, { document: { '@context': {}, nonsense: 1 }, safe: true });
  }
}

/** Starts, changes and cancels purges, and makes requests that are refused. */
async function purges(api: ApiClient): Promise<void> {
  const start = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    api.send('POST', '/purges', { body: { target: 'entities', query }, headers });
  await start('id=urn:a:1');
  await start('type=Car', { 'x-purge-policy': 'dry-run-only' });
  await start('type=Car', { authorization: 'Bearer x' });
  await start('type=Car', { 'ngsild-snapshot': 'urn:a:1' });
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

/** Runs the operations on write policies, with answers and refusals. */
async function writePolicies(api: ApiClient): Promise<void> {
  const policy = '/write-policies/W';
  await api.post('/write-policies', { name: 'W', mode: 'report' });
  await api.post('/write-policies', { name: 'W', mode: 'report' });
  await api.post('/write-policies', { name: 'V', mode: 'report', model: 'none' });
  await api.put(policy, { mode: 'report', model: 'none' });
  await api.get(policy);
  await api.get(policy, { 'if-none-match': '*' });
  await api.get('/write-policies', { 'if-none-match': '*' });
  await api.get('/write-checks?policy=W');
  await api.get('/write-checks?policy=none');
  await api.put('/write-policies/-1', { mode: 'report' });
  await api.put(policy, { mode: 'off' });
  await api.delete(policy, { 'if-match': '"x"' });
  await api.delete(policy);
  await api.put(policy, { mode: 'off' });
  await api.delete(policy);
}

/** Runs the operations on retention policies, with answers and refusals. */
async function retention(api: ApiClient): Promise<void> {
  const policy = '/retention-policies/R';
  const noDryRuns = { 'x-purge-policy': 'dry-run-only' };
  const put = (change: object, headers = {}) =>
    api.send('PUT', policy, { body: { ...RETENTION, ...change }, headers });
  await api.post('/retention-policies', { name: 'R', ...RETENTION });
  await api.post('/retention-policies', { name: 'R', ...RETENTION });
  await api.post('/retention-policies', { name: 'S', ...RETENTION, query: 'q=a)|(b' });
  await api.send('POST', '/retention-policies', {
    body: { name: 'S', ...RETENTION, mode: 'enforce' },
    headers: noDryRuns,
  });
  await put({ query: 'q=a)|(b' });
  await put({ mode: 'enforce' }, noDryRuns);
  await put({ target: 'temporal', by: 'observedAt' });
  for (const headers of [
    {},
    { 'ngsild-tenant': 't' },
    { 'x-purge-policy': 'allow-temporal=?0' },
    { authorization: 'Bearer x' },
  ]) {
    await api.get(`${policy}/preview`, headers);
    await api.send('POST', `${policy}/run`, { headers });
  }
  const preview = (body: object, headers = {}) =>
    api.send('POST', '/retention-policies/preview', { body, headers });
  await preview({ ...RETENTION, query: 'q=a)|(b' });
  await preview({ ...RETENTION, mode: 'enforce' }, noDryRuns);
  await preview(RETENTION, { 'ngsild-tenant': 't' });
  await preview(RETENTION, { 'ngsild-snapshot': 'urn:a:1' });
  await put({});
  await api.get(policy);
  await api.get(policy, { 'if-none-match': '*' });
  await api.get(`${policy}/preview`);
  await api.get(`${policy}/preview`, { 'ngsild-snapshot': 'urn:a:1' });
  await api.send('POST', `${policy}/run`, { headers: { 'ngsild-snapshot': 'urn:a:1' } });
  await api.send('POST', `${policy}/run`, { headers: { 'if-match': '"x"' } });
  await api.send('POST', `${policy}/run`);
  await api.get(`${policy}/runs`);
  await api.get(`${policy}/runs`, { 'if-none-match': '*' });
  await api.put('/retention-policies/-1', RETENTION);
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
  await api.send('POST', `${archive}/restore`, { body: {}, headers: { 'ngsild-snapshot': 'urn:s' } });
  await api.send('POST', `${archive}/restore`, { body: {}, headers: { 'ngsild-tenant': 'other' } });
  await api.delete(`${archive}/archive`);
  await api.send('POST', '/purges', { body: { plan: 'nothing' } });
  const dry = await api.send('POST', '/purges', {
    body: { target: 'entities', query: 'type=Bus', dryRun: true, plan: true },
  });
  const plan = dry.headers.get('location')?.split('/purges/')[1] ?? '';
  await api.get(`/purges/${plan}/events`);
  await api.send('POST', '/purges', { body: { plan }, headers: { 'x-purge-policy': 'max-affected=1' } });
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
  for (const bad of [{ type: 7 }, { $schema: 'urn:none' }, nested(300), { $ref: 'urn:none' }])
    await start({ query: 'type=Car', schema: bad });
  await start({ query: 'type=Car', model: 'No/None' });
}

/** Uses a deadline that no schema meets. */
async function tooCostly(api: ApiClient): Promise<void> {
  await api.post('/domains', { name: 'D' });
  await api.post('/domains/D/models', { name: 'M', schema: CAR });
}

/** Provokes errors that only come from races or failures of the machine. */
async function failures(): Promise<ApiClient> {
  let error = new Error('unforeseen');
  const { api } = await startFakeApi(failingService(() => error));
  for (error of [
    error,
    new StoreUnavailableError('down'),
    new WorkersBusyError(64),
    new QueueFullError(1000),
    new ArchiveInUseError('P', 'running'),
    new ArchiveUnavailableError('full'),
    new ArchiveUnreadableError('damaged'),
    new RunUnderWayError('R', 'P'),
    new RestoreUnderWayError('P', 'R'),
    new QueryRefusedError('badRequestData', 'not a query', 'q'),
    new PolicyRefusedError('not allowed'),
    new JobSecretError('no secret'),
    new UnsupportedRequestError('not supported'),
    new FilterIgnoredError('q', 'ignored'),
    new UnexpectedEntityError('urn:a:1', 'id'),
    new PurgeStoppedError('stopped'),
    new PurgeCancelledError(),
    new BrokerRefusedError('answer', { status: 403 }),
    new BrokerReplyError('unusable'),
    ...(['throttled', 'broker-error', 'context-unavailable', 'timeout', 'unreachable'] as const).map(
      (kind) => new BrokerFailedError('answer', { kind }, 'attempts-used-up'),
    ),
    new DependencyChangedError(['urn:doc:a'], []),
    new SchemaNotAcceptedError('schemaTooCostly', 'too costly', []),
    new DeadlineExceededError('too slow'),
    new WorkbenchRefusedError('contextUnavailable', 'not had', [], 'https://elsewhere.example/context'),
    new WorkbenchRefusedError('contextInvalid', 'no context', [], 'https://elsewhere.example/context'),
  ]) {
    for (const [method, target, body] of REQUESTS) {
      // Other operations cannot have these errors, and do not describe them.
      const isDescribed = describes(api, method, target, error);
      if (isDescribed) await api.send(method, target, { body });
    }
  }
  return api;
}

function describes({ description }: ApiClient, method: string, target: string, error: Error): boolean {
  // A broker's problem with a context has the same type but another status.
  if (error instanceof WorkbenchRefusedError && target.startsWith('/retention-policies')) return false;
  const type = {
    Error: 'InternalError',
    StoreUnavailableError: 'store-unavailable',
    WorkersBusyError: 'busy',
    QueueFullError: 'too-many-purges',
    ArchiveInUseError: 'in-use',
    ArchiveUnavailableError: 'archive-unavailable',
    ArchiveUnreadableError: 'archive-unreadable',
    RestoreUnderWayError: 'in-use',
    RunUnderWayError: 'run-under-way',
    QueryRefusedError: 'BadRequestData',
    PolicyRefusedError: 'forbidden-by-policy',
    JobSecretError: 'job-secret-missing',
    UnsupportedRequestError: 'not-supported',
    FilterIgnoredError: 'filter-ignored',
    UnexpectedEntityError: 'unexpected-entity',
    PurgeStoppedError: 'shutting-down',
    PurgeCancelledError: 'purge-cancelled',
    BrokerRefusedError: 'broker-refused',
    BrokerReplyError: 'broker-reply-unusable',
    BrokerFailedError: 'broker-unreachable',
    DependencyChangedError: 'dependency-changed',
    DeadlineExceededError: 'deadline-exceeded',
    WorkbenchRefusedError: error.message === 'not had' ? 'LdContextNotAvailable' : 'context-invalid',
    SchemaNotAcceptedError: 'too-costly',
  }[error.name];
  const operation = description.operationAt(method, target);
  return new RegExp(`[:/](?:schema-)?${String(type)}"`).test(JSON.stringify(operation?.responses ?? {}));
}

function nested(levels: number): unknown {
  return levels === 0 ? {} : { not: nested(levels - 1) };
}
