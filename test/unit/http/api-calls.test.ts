import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { PurgeFailedError } from '../../../sidecar/jobs/errors.js';
import { BrokerRefusedError } from '../../../sidecar/purge/errors.js';
import { send, type Doing } from './fake-api.js';

/** The calls that routes make of services, and the answers made of their results. */

const API = 'http://gw/api/v2';
const baseUrl = 'http://gw';

/** The arguments of a call, without the signals that say whether the client is still connected. */
function given(call: readonly unknown[] = []): readonly unknown[] {
  return call.map((one) => {
    if (typeof one !== 'object' || one === null || !('signal' in one)) return one;
    const { signal, ...rest } = one;
    assert.notEqual(signal, undefined);
    return rest;
  });
}

const LIFECYCLE = { status: 'deprecated', deprecatedAt: 5999, sunsetAt: Date.UTC(2026, 0, 1) } as const;
const MODEL = {
  domain: 'D',
  name: 'M',
  compatibility: 'none',
  contextName: 'D~M',
  currentVersion: 3,
  etag: 'e',
  createdAt: 1000,
  modifiedAt: 2000,
  ...LIFECYCLE,
};
const STORED = {
  model: MODEL,
  version: { number: 3, references: [{ uri: 'urn:r' }], metadata: { dialect: '2020-12' } },
  schema: 'true',
};
const KEY = { domain: 'D', name: 'M' };
const MODEL_PATH = '/domains/D/models/M';
const DOMAIN = { name: 'D', compatibility: 'none', createdAt: 1, modifiedAt: 2, etag: 'e' };
const CONTEXT = {
  context: { name: 'C', kind: 'custom', currentVersion: 2, etag: 'e', createdAt: 1, modifiedAt: 2 },
  warnings: [],
  followers: [],
  isNewVersion: false,
};
const POLICY = { name: 'Old', settings: {}, author: { caller: 'c' }, etag: 'e', createdAt: 1, modifiedAt: 2 };
const RETENTION = {
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P90D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
};

it('bodies that start or change purges, policies and domains have at most 64 KiB', async () => {
  for (const [method, path] of [
    ['POST', '/domains'],
    ['PUT', '/domains/D'],
    ['POST', '/purges'],
    ['PATCH', '/purges/p'],
    ['POST', '/retention-policies'],
    ['PUT', '/retention-policies/R'],
  ] as const) {
    const status = async (bytes: number) =>
      (await send(method, path, { body: '{}'.padEnd(bytes) }, {}, 1_000_000)).status;
    assert.equal(await status(65_537), 413, path);
    assert.notEqual(await status(65_536), 413, path);
  }
});

/** Each write of an existing resource: the method of the service, and the argument that has the conditions. */
const WRITES = [
  ['PUT', '/domains/D', {}, 'update', 3],
  ['DELETE', '/domains/D?cascade=true', undefined, 'delete', 2],
  ['DELETE', MODEL_PATH, undefined, 'delete', 2],
  ['PUT', '/contexts/C', { '@context': {} }, 'update', 3],
  ['DELETE', '/contexts/C', undefined, 'delete', 2],
  ['DELETE', '/references?uri=urn:a', undefined, 'delete', 2],
  ['DELETE', '/retention-policies/R', undefined, 'delete', 2],
  ['POST', '/retention-policies/R/run', undefined, 'run', 3],
] as const;

it('each write of an existing resource checks the ETags of If-Match', async () => {
  for (const [method, path, body, name, position] of WRITES) {
    const headers = { 'if-match': '"a", "b"' };
    const doing = { update: { ...DOMAIN, ...CONTEXT }, run: { id: 'p' } };
    const { calls } = await send(method, path, { body, headers }, doing);
    const conditions = calls.find(([one]) => one === name)?.[position];
    const ifMatch = Array.isArray(conditions) ? conditions : (conditions as { ifMatch?: unknown }).ifMatch;
    assert.deepEqual(ifMatch, ['a', 'b'], path);
  }
});

it('each write of an existing resource is 412 for If-None-Match: *, and changes nothing', async () => {
  for (const [method, path, body, name] of WRITES) {
    const headers = { 'if-none-match': '*' };
    const { status, calls } = await send(method, path, { body, headers });
    assert.equal(status, 412, path);
    assert.ok(!calls.some(([one]) => one === name), path);
  }
});

it('a write that may create a resource passes on its conditions, with and without a dry run', async () => {
  const change = { overall: 'compatible', differences: [] };
  const model = { model: STORED, outcome: 'unchanged', change, number: 3, warnings: [] };
  const reference = { uri: 'urn:a', source: 'stored', content: {}, createdAt: 1, modifiedAt: 2 };
  const putReference = { reference, outcome: 'replaced', dependents: [] };
  for (const [headers, expected] of [
    [{ 'if-match': '"a", "b"' }, ['a', 'b']],
    [{ 'if-none-match': '*' }, 'absent'],
    [{ 'if-match': '*' }, 'present'],
    [{}, undefined],
  ] as const) {
    for (const dryRun of [true, false]) {
      const put = await send('PUT', `${MODEL_PATH}?dryRun=${dryRun}`, { body: {}, headers }, { put: model });
      assert.deepEqual(put.calls, [['put', KEY, {}, { expected, dryRun, baseUrl, caller: 'anonymous' }]]);
      assert.equal((put.json() as { readonly dryRun?: boolean }).dryRun, dryRun ? true : undefined);
      assert.equal(put.headers.etag, '"e"');
      for (const dependents of [true, false]) {
        const path = `/references?uri=urn:a&dependents=${dependents}&dryRun=${dryRun}`;
        const { calls } = await send('PUT', path, { body: 1, headers }, { putReference, put: putReference });
        assert.deepEqual(
          calls.map(given),
          dependents || dryRun
            ? [['putReference', 'urn:a', 1, { expected, dryRun, baseUrl }]]
            : [['put', 'urn:a', 1, expected]],
        );
      }
    }
    const put = { policy: POLICY, isNew: false };
    const { calls } = await send('PUT', '/retention-policies/R', { body: RETENTION, headers }, { put });
    assert.deepEqual(calls[0]?.[4], expected);
  }
});

it('a new context version looks at dependent models, in a dry run too, until the client disconnects', async () => {
  for (const dryRun of [true, false]) {
    const path = `/contexts/C?dryRun=${dryRun}`;
    const { calls, headers } = await send('PUT', path, { body: { '@context': {} } }, { update: CONTEXT });
    assert.deepEqual(calls.map(given), [['update', 'C', {}, { baseUrl, dryRun, looksAtFollowers: true }]]);
    assert.equal(headers.etag, '"e"');
  }
});

it('a dry run of a new model writes nothing', async () => {
  const create = { outcome: 'created', number: 1, warnings: [] };
  const body = { name: 'M', schema: true };
  const model = await send('POST', '/domains/D/models?dryRun=true', { body }, { create });
  assert.deepEqual(model.calls, [['create', 'D', body, { dryRun: true, baseUrl, caller: 'anonymous' }]]);
});

it('a model at a version has another ETag than the model, so that no write accepts it', async () => {
  for (const [query, version, etag] of [
    ['', undefined, '"e"'],
    ['?version=3', 3, '"e.v3"'],
  ] as const) {
    const { headers, calls } = await send('GET', `${MODEL_PATH}${query}`, {}, { texts: STORED });
    assert.deepEqual([headers.etag, calls], [etag, [['texts', KEY, version]]]);
  }
});

it('a model shows its times and its sunset, whether or not it is deprecated', async () => {
  const { deprecatedAt, sunsetAt } = LIFECYCLE;
  for (const [times, shown] of [
    [{}, {}],
    [{ sunsetAt }, { sunset: '2026-01-01T00:00:00.000Z' }],
    [{ deprecatedAt }, { deprecatedAt: '1970-01-01T00:00:05.999Z' }],
  ] as const) {
    const shownModel = { ...MODEL, deprecatedAt: undefined, sunsetAt: undefined, ...times };
    const texts = { ...STORED, model: shownModel };
    const model = await send('GET', MODEL_PATH, {}, { texts });
    assert.deepEqual(model.json(), {
      domain: 'D',
      name: 'M',
      compatibility: 'none',
      status: 'deprecated',
      ...shown,
      version: 3,
      contextName: 'D~M',
      createdAt: '1970-01-01T00:00:01.000Z',
      modifiedAt: '1970-01-01T00:00:02.000Z',
      dialect: '2020-12',
      schema: true,
      references: ['urn:r'],
      warnings: [],
    });
  }
});

it('each tool of the workbench gets the text, the signal and every option of the request', async () => {
  for (const [path, expected] of [
    [
      '/workbench/schema/infer?model=M&form=ngsiv2&enum=true&strict=false',
      ['infer', '{ }', { model: 'M', form: 'ngsiv2', enumerates: true, isStrict: false }],
    ],
    ['/workbench/jsonld/expand', ['expand', '{ }', { baseUrl }]],
    ['/workbench/jsonld/compact', ['compact', '{ }', { baseUrl }]],
    [
      '/validate?domain=D&form=concise&strict=false',
      ['validateByType', '{ }', { domain: 'D', form: 'concise', isStrict: false }],
    ],
    [
      '/validate/D/M?version=2&form=concise&strict=false',
      ['validate', KEY, '{ }', { version: 2, form: 'concise', isStrict: false }],
    ],
  ] as const) {
    // oxfmt-ignore
    const doing = { infer: '{}', expand: '{}', compact: '{}', validate: '{}', validateByType: '{}' };
    const { calls, status } = await send('POST', path, { body: '{ }' }, doing);
    assert.deepEqual([status, calls.map(given)], [200, [expected]], path);
  }
});

it('the file of an export is named after its domain', async () => {
  for (const [query, domain, name] of [
    ['?domain=City', 'City', 'City'],
    ['', undefined, 'models'],
  ] as const) {
    const { headers, calls } = await send('GET', `/export${query}`, {}, { export: [] });
    assert.equal(headers['content-disposition'], `attachment; filename="${name}.tar.gz"`);
    assert.deepEqual(calls, [['export', domain, baseUrl]]);
  }
});

const PATH = '/retention-policies/Old';
const REPORT = { matched: 3, sample: ['urn:a:1'], unit: undefined, isLowerBound: undefined };
const PREVIEW = { id: 'p-1', cutoff: 'c', query: 'q', report: REPORT, reportAbove: undefined };

it('a run or a preview is refused for each header that names other data than the policy', async () => {
  for (const header of ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link']) {
    for (const [method, path] of [
      ['GET', `${PATH}/preview`],
      ['POST', `${PATH}/run`],
    ] as const) {
      const { status, text, calls } = await send(method, path, { headers: { [header]: 'x' } });
      assert.deepEqual([status, calls], [400, []], header);
      assert.match(text, new RegExp(`\\b${header}\\b`));
    }
  }
});

it('the name of a policy is that of its path, and must be valid', async () => {
  for (const name of ['old', 'OLD', 'Old2']) {
    const { status, calls } = await send('PUT', PATH, { body: { ...RETENTION, name } });
    assert.deepEqual([status, calls], [400, []], name);
  }
  for (const name of ['-a', 'a b', 'ä', `a${'b'.repeat(128)}`]) {
    const path = `/retention-policies/${encodeURIComponent(name)}`;
    const { status, calls } = await send('PUT', path, { body: RETENTION });
    assert.deepEqual([status, calls], [404, []], name);
  }
});

it('omitted settings of a policy get their defaults, and given ones are kept, including false and 0', async () => {
  const settingsOf = async (settings: object) => {
    const body = { name: 'Old', ...RETENTION, ...settings };
    const put = { policy: POLICY, isNew: true };
    const { calls, headers } = await send('POST', '/retention-policies', { body }, { put });
    assert.equal(headers.location, `${API}/retention-policies/Old`);
    return calls[0]?.[2];
  };
  const defaults = { timeZone: 'UTC', maxGrowth: 3, mode: 'report', enabled: true };
  assert.deepEqual(await settingsOf({}), { ...RETENTION, ...defaults });
  const settings = { timeZone: 'Europe/Madrid', maxGrowth: 0, mode: 'enforce', enabled: false, query: 'q' };
  assert.deepEqual(await settingsOf(settings), { ...RETENTION, ...settings });
});

it('a preview names its record, and says if there are more matches than counted, and of which unit', async () => {
  const shown = async (preview: object) => {
    const { headers, json } = await send(
      'GET',
      `${PATH}/preview`,
      {},
      { preview: { ...PREVIEW, ...preview } },
    );
    assert.deepEqual([headers['purge-id'], headers.etag], ['p-1', undefined]);
    return json();
  };
  const counts = { matched: 3, sample: ['urn:a:1'], cutoff: 'c', query: 'q' };
  assert.deepEqual(await shown({}), counts);
  const more = { report: { ...REPORT, unit: 'instances', isLowerBound: true }, reportAbove: 2 };
  assert.deepEqual(await shown(more), { ...counts, unit: 'instances', reportAbove: 2, atLeast: true });
});

it('a status of the broker is not used as the status of a preview, and the record of the preview is kept', async () => {
  const previewed = (preview: Error) => send('GET', `${PATH}/preview`, {}, { preview });
  const said = { type: 'about:blank', title: 'No', status: 404 };
  const refusal = new BrokerRefusedError('list entities', said);
  const record = { id: 'p-7' } as never;
  const { status, thrown } = await previewed(refusal);
  assert.deepEqual([status, thrown instanceof RequestRefusedError], [502, true]);
  const recorded = await previewed(new PurgeFailedError(refusal, record, true));
  assert.ok(recorded.thrown instanceof PurgeFailedError);
  assert.deepEqual([recorded.status, recorded.thrown.record, recorded.thrown.hasBegun], [502, record, true]);
  const other = new Error('Wrong.');
  assert.equal((await previewed(other)).thrown, other);
});

const RECORD = { id: 'p-1', state: 'running', deleted: 0 };
const DONE = { ...RECORD, state: 'succeeded', deleted: 3 };

async function watched(records: readonly object[], record: object, seen?: string) {
  const watch = async function* () {
    yield* records;
  };
  const headers = seen === undefined ? {} : { 'last-event-id': seen };
  return send('GET', '/purges/p-1/events', { headers }, { get: record, watch } satisfies Doing);
}

it('a stream of events has an event for each record, except for the one that the client already has', async () => {
  const { text, status, headers } = await watched([RECORD, DONE], RECORD);
  const events = [...text.matchAll(/^id: (\S{16})\ndata: (.*)\n\n/gm)];
  const records = events.map(([, , data = '']) => JSON.parse(data) as unknown);
  assert.deepEqual([status, headers['x-accel-buffering'], records], [200, 'no', [RECORD, DONE]]);
  assert.equal(headers['cache-control'], 'no-cache, no-transform', 'proxies must not hold events back');
  const [first, last] = events.map(([, id]) => id);
  const again = await watched([RECORD, DONE], RECORD, first);
  assert.equal(again.text, text.slice(text.indexOf(`id: ${last}`)));
});

it('a stream of events is 204 only for a client that has the final record', async () => {
  const { text } = await watched([DONE], DONE);
  const id = /^id: (\S+)/.exec(text)?.[1] ?? '';
  assert.equal((await watched([DONE], DONE, id)).status, 204);
  for (const other of ['x', '', id.slice(1)]) {
    const { status, text: again } = await watched([DONE], DONE, other);
    assert.deepEqual([status, again], [200, text], other);
  }
  const its = /^id: (\S+)/.exec((await watched([RECORD], RECORD)).text)?.[1] ?? '';
  assert.equal((await watched([RECORD], RECORD, its)).status, 200);
});
