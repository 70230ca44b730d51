import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../../../sidecar/http/api/answer.js';
import { contextEndpoints } from '../../../sidecar/http/api/contexts.js';
import { domainContextEndpoints, domainEndpoints } from '../../../sidecar/http/api/domains.js';
import { isWrite, needsToken, type Call, type Endpoint } from '../../../sidecar/http/api/endpoint.js';
import { withLifecycle } from '../../../sidecar/http/api/lifecycle.js';
import { modelDocumentEndpoints } from '../../../sidecar/http/api/model-documents.js';
import { modelEndpoints } from '../../../sidecar/http/api/models.js';
import { purgeEndpoints } from '../../../sidecar/http/api/purges.js';
import { referenceEndpoints } from '../../../sidecar/http/api/references.js';
import { retentionEndpoints } from '../../../sidecar/http/api/retention.js';
import { statusEndpoint } from '../../../sidecar/http/api/status.js';
import { transferEndpoints } from '../../../sidecar/http/api/transfer.js';
import { workbenchEndpoints } from '../../../sidecar/http/api/workbench.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { PurgeFailedError } from '../../../sidecar/jobs/errors.js';
import { BrokerRefusedError } from '../../../sidecar/purge/index.js';

const BASE = 'http://gw';
const API = `${BASE}/api/v2`;

/** A service that notes every call, and answers each as it is told; an error is thrown. */
function serviceOf(answers: Readonly<Record<string, unknown>> = {}) {
  const calls: unknown[][] = [];
  const service = new Proxy(
    {},
    {
      get:
        (_target, name: string) =>
        async (...given: readonly unknown[]) => {
          calls.push([name, ...given]);
          if (answers[name] instanceof Error) throw answers[name];
          return answers[name];
        },
    },
  );
  return { calls, service: service as never };
}

type Given = Partial<Call<Readonly<Record<string, string>>, unknown, unknown>> & {
  readonly headers?: Readonly<Record<string, string>>;
};

const DISCONNECTED = new AbortController().signal;

/** Calls an endpoint, past its checks of parameters and body. */
async function call(endpoints: readonly Endpoint[], id: string, given: Given = {}): Promise<Answer> {
  const endpoint = endpoints.find((one) => one.id === id) ?? assert.fail(`There is no ${id}.`);
  const { headers = {}, ...rest } = given;
  return endpoint.handle({
    ...{ params: {}, query: {}, body: undefined, text: '', signal: undefined, baseUrl: BASE },
    conditions: { ifMatch: undefined, ifAbsent: false },
    request: { headers, id: 'r-1' } as unknown as FastifyRequest,
    disconnected: () => DISCONNECTED,
    ...rest,
  });
}

const jsonOf = ({ body }: Answer): unknown => JSON.parse(String(body?.bytes));

const isRefusal = (status: number) => (error: unknown) =>
  error instanceof RequestRefusedError && error.problem.status === status;

const LIFECYCLE = { status: 'deprecated', deprecatedAt: 5999, sunsetAt: Date.UTC(2026, 0, 1) } as const;
const MODEL_DETAILS = {
  ...{ domain: 'D', name: 'M', compatibility: 'none', contextName: 'D~M', currentVersion: 7, etag: 'e' },
  ...{ createdAt: 1000, modifiedAt: 2000, schema: true, warnings: [], ...LIFECYCLE },
  version: { number: 3, dialect: '2020-12', references: ['urn:r'] },
};

/** The conditions of a write: what they allow. */
const IF_MATCH = { ifMatch: ['a', 'b'], ifAbsent: false };
const IF_ABSENT = { ifMatch: undefined, ifAbsent: true };

describe('bodies of settings', () => {
  it('bodies that start or change purges, policies and domains have at most 64 KiB', () => {
    const { service } = serviceOf();
    const all = [
      ...domainEndpoints({ schemas: { domains: service } } as never),
      ...purgeEndpoints({ purges: service } as never),
      ...retentionEndpoints({ retention: service } as never),
    ].filter(({ body }) => body !== undefined);
    assert.ok(all.length >= 6);
    for (const { id, bodyMaxBytes } of all) assert.equal(bodyMaxBytes, 65_536, id);
  });
});

describe('writes that may be conditional', () => {
  const rooms = (answers: Readonly<Record<string, unknown>>) => {
    const room = serviceOf(answers);
    const { service } = room;
    return { room, service };
  };
  const CONTEXT = {
    context: { name: 'C', kind: 'custom', currentVersion: 2, etag: 'e', createdAt: 1, modifiedAt: 2 },
  };
  const DOMAIN = { name: 'D', compatibility: 'none', createdAt: 1, modifiedAt: 2, etag: 'e' };

  /** Each write of what must be there: its endpoint, what it is given, and which argument has the conditions. */
  const WRITES: readonly (readonly [
    id: string,
    endpointsOf: (service: never) => readonly Endpoint[],
    given: Given,
    method: string,
    conditionsOf: (call: readonly unknown[]) => unknown,
  ])[] = [
    ['updateDomain', domainEndpoints, { params: { domain: 'D' }, body: {} }, 'update', ([, , , options]) => options],
    ['deleteDomain', domainEndpoints, { params: { domain: 'D' }, query: { cascade: true } }, 'delete', ([, , options]) => options],
    ['deleteModel', modelEndpoints, { params: { domain: 'D', model: 'M' } }, 'delete', ([, , options]) => options],
    ['updateContext', contextEndpoints, { params: { context: 'C' }, query: { dryRun: false }, body: { '@context': {} } }, 'update', ([, , , options]) => options],
    ['deleteContext', contextEndpoints, { params: { context: 'C' } }, 'delete', ([, , options]) => options],
    ['deleteReference', (service) => referenceEndpoints(service, service), { query: { uri: 'urn:a' } }, 'delete', ([, , options]) => options],
    ['deleteRetentionPolicy', (service) => retentionEndpoints({ retention: service, hasToken: false }), { params: { retentionPolicy: 'R' } }, 'delete', ([, , ifMatch]) => ({ ifMatch })],
  ]; // oxfmt-ignore

  it('each write of what must be there holds the ETags of If-Match against it', async () => {
    for (const [id, endpointsOf, given, method, conditionsOf] of WRITES) {
      const written = { ...DOMAIN, ...CONTEXT, warnings: [], followers: [] };
      const { room, service } = rooms({ update: written });
      await call(endpointsOf(service), id, { ...given, conditions: IF_MATCH });
      const made = room.calls.find(([name]) => name === method) ?? assert.fail(id);
      assert.deepEqual((conditionsOf(made) as { ifMatch?: unknown }).ifMatch, ['a', 'b'], id);
    }
  });

  it('each write of what must be there is 412 for If-None-Match: *, and changes nothing', async () => {
    for (const [id, endpointsOf, given, method] of WRITES) {
      const { room, service } = rooms({});
      await assert.rejects(
        call(endpointsOf(service), id, { ...given, conditions: IF_ABSENT }),
        isRefusal(412),
        id,
      );
      assert.ok(!room.calls.some(([name]) => name === method), id);
    }
  });

  it('a write that may create hands on what it expects, with and without a dry run', async () => {
    const key = { domain: 'D', name: 'M' };
    const change = { overall: 'compatible', differences: [] };
    const put = { model: MODEL_DETAILS, outcome: 'unchanged', change, number: 3, warnings: [] };
    for (const [conditions, expected] of [
      [IF_MATCH, ['a', 'b']],
      [IF_ABSENT, 'absent'],
      [{ ifMatch: '*', ifAbsent: false } as const, 'present'],
      [{ ifMatch: undefined, ifAbsent: false }, undefined],
    ] as const) {
      for (const dryRun of [true, false]) {
        const models = serviceOf({ put });
        const params = { domain: 'D', model: 'M' };
        const answer = await call(modelEndpoints(models.service), 'updateModel', {
          params,
          query: { dryRun },
          body: {},
          conditions,
        });
        assert.deepEqual(models.calls, [['put', key, {}, { expected, dryRun, baseUrl: BASE }]]);
        assert.equal((jsonOf(answer) as { readonly dryRun?: boolean }).dryRun, dryRun ? true : undefined);
        assert.equal(answer.etag, 'e');
      }
      const reference = {
        uri: 'urn:a',
        source: 'stored',
        content: { size: 1, sha256: 'x' },
        createdAt: 1,
        modifiedAt: 2,
      };
      const references = serviceOf({ put: { reference, outcome: 'replaced' } });
      const transfer = serviceOf({ putReference: { reference, outcome: 'replaced', dependents: [] } });
      const endpoints = referenceEndpoints(references.service, transfer.service);
      const put2 = (dependents: boolean, dryRun: boolean) =>
        call(endpoints, 'putReference', { query: { uri: 'urn:a', dependents, dryRun }, body: 1, conditions });
      await put2(false, false);
      assert.deepEqual(references.calls, [['put', 'urn:a', 1, expected]]);
      const options = { expected, baseUrl: BASE, signal: DISCONNECTED };
      await put2(true, false);
      await put2(true, true);
      await put2(false, true);
      assert.deepEqual(transfer.calls, [
        ['putReference', 'urn:a', 1, { ...options, dryRun: false }],
        ['putReference', 'urn:a', 1, { ...options, dryRun: true }],
        ['putReference', 'urn:a', 1, { ...options, dryRun: true }],
      ]);
      const policy = {
        name: 'R',
        settings: {},
        author: { caller: 'c' },
        etag: 'e',
        createdAt: 1,
        modifiedAt: 2,
      };
      const retention = serviceOf({ put: { policy, isNew: false } });
      await call(
        retentionEndpoints({ retention: retention.service, hasToken: false }),
        'putRetentionPolicy',
        {
          ...{ params: { retentionPolicy: 'R' }, body: {}, conditions },
        },
      );
      assert.deepEqual(retention.calls[0]?.[4], expected);
    }
  });

  it('the deletion of a domain takes its models with it only where it is told to', async () => {
    for (const cascade of [true, false]) {
      const { room, service } = rooms({});
      await call(domainEndpoints(service), 'deleteDomain', { params: { domain: 'D' }, query: { cascade } });
      assert.deepEqual(room.calls, [['delete', 'D', { cascade }]]);
    }
  });

  it('a new context of a name looks at what follows it, dry or not, until the client disconnects', async () => {
    for (const dryRun of [true, false]) {
      const { room, service } = rooms({
        update: { ...CONTEXT, warnings: [], followers: [], isNewVersion: false },
      });
      const given = { params: { context: 'C' }, query: { dryRun }, body: { '@context': {} } };
      const answer = await call(contextEndpoints(service), 'updateContext', given);
      const options = { baseUrl: BASE, dryRun, looksAtFollowers: true, signal: DISCONNECTED };
      assert.deepEqual(room.calls, [['update', 'C', {}, options]]);
      assert.equal(answer.etag, 'e');
    }
  });

  it('a dry run of a new model or context writes nothing', async () => {
    const models = serviceOf({ dryCreate: { outcome: 'created', number: 1, warnings: [] } });
    const body = { name: 'M', schema: true };
    await call(modelEndpoints(models.service), 'createModel', {
      params: { domain: 'D' },
      query: { dryRun: true },
      body,
    });
    assert.deepEqual(models.calls, [['dryCreate', 'D', body, { baseUrl: BASE }]]);
    const contexts = serviceOf({ dryCreate: { warnings: [] } });
    const context = { name: 'C', '@context': { a: 'urn:a' } };
    await call(contextEndpoints(contexts.service), 'createContext', {
      query: { dryRun: true },
      body: context,
    });
    assert.deepEqual(contexts.calls, [['dryCreate', 'C', context['@context'], { baseUrl: BASE }]]);
  });
});

describe('answers about models', () => {
  const params = { domain: 'D', model: 'M' };

  it('a model at a version has another ETag than the model, so that no write takes it', async () => {
    for (const [version, etag] of [
      [undefined, 'e'],
      [3, 'e.v3'],
    ] as const) {
      const { calls, service } = serviceOf({ get: MODEL_DETAILS });
      const answer = await call(modelEndpoints(service), 'getModel', { params, query: { version } });
      assert.deepEqual([answer.etag, calls], [etag, [['get', { domain: 'D', name: 'M' }, version]]]);
    }
  });

  it('every answer about a deprecated model says since when, and when it will be removed', async () => {
    const paged = { items: [], total: 0 };
    const held = { bytes: Buffer.from('{}'), mediaType: 'application/json', etag: 'e' };
    const answers = {
      ...{ get: MODEL_DETAILS, lifecycle: LIFECYCLE, versions: paged, diff: {} },
      ...{ document: held, file: held, files: [] },
    };
    const { service } = serviceOf(answers);
    const endpoints = [...modelEndpoints(service), ...modelDocumentEndpoints(service)];
    for (const id of [
      ...['getModel', 'listModelVersions', 'diffModelVersions', 'getModelSchema', 'getModelOpenapi'],
      ...['getModelContext', 'listModelFiles', 'getModelFile'],
    ]) {
      const query = { version: 3, limit: 10, offset: 0 };
      const { headers } = await call(endpoints, id, { params: { ...params, file: 'x' }, query });
      const { deprecation, sunset } = headers ?? {};
      assert.deepEqual([deprecation, sunset], ['@5', 'Thu, 01 Jan 2026 00:00:00 GMT'], id);
    }
    const contexts = serviceOf({ document: { ...held, lifecycle: LIFECYCLE } });
    const answer = await call(contextEndpoints(contexts.service), 'getContext', {
      params: { context: 'D~M' },
    });
    assert.equal(answer.headers?.['deprecation'], '@5');
  });

  it('a version of a draft may change, so it is not cached; one that was published may be', () => {
    const answer: Answer = { status: 200, isImmutable: true };
    const none = { deprecatedAt: undefined, sunsetAt: undefined };
    assert.equal(withLifecycle(answer, { ...none, status: 'draft' }).isImmutable, false);
    assert.equal(withLifecycle(answer, { ...none, status: 'published' }).isImmutable, true);
    assert.equal(withLifecycle({ status: 200 }, { ...none, status: 'published' }).isImmutable, false);
    assert.equal(withLifecycle(answer, undefined), answer);
    const { headers } = withLifecycle(
      { ...answer, headers: { a: 'b' } },
      { ...none, status: 'deprecated', sunsetAt: 0 },
    );
    assert.deepEqual(headers, { a: 'b', sunset: 'Thu, 01 Jan 1970 00:00:00 GMT' });
  });

  it('the files of a model are paged, and each leads to the file of the version that was asked for', async () => {
    const files = ['a', 'b/c', 'd'].map((name) => ({ name, mediaType: 'x/y', size: 1, sha256: 's' }));
    const { service } = serviceOf({ files, lifecycle: { status: 'published' } });
    const listed = async (version: number | undefined, offset: number) => {
      const query = { version, limit: 1, offset };
      return call(modelDocumentEndpoints(service), 'listModelFiles', { params, query });
    };
    const second = await listed(4, 1);
    const url = `${API}/domains/D/models/M/files`;
    assert.deepEqual(
      (jsonOf(second) as readonly { readonly url: string }[]).map((file) => file.url),
      [`${url}/b%2Fc?version=4`],
    );
    assert.deepEqual(second.headers, {
      'x-total-count': '3',
      link: `<${url}?version=4&limit=1&offset=2>; rel="next"`,
    });
    assert.deepEqual((jsonOf(await listed(undefined, 0)) as readonly { url: string }[])[0]?.url, `${url}/a`);
  });

  it('a bundled schema is asked for as such', async () => {
    const held = { bytes: Buffer.from('{}'), mediaType: 'application/json', etag: 'e' };
    for (const [bundled, kind] of [
      [true, 'bundled'],
      [false, 'schema'],
    ] as const) {
      const { calls, service } = serviceOf({ document: held, lifecycle: { status: 'published' } });
      await call(modelDocumentEndpoints(service), 'getModelSchema', {
        params,
        query: { bundled, version: 2 },
      });
      assert.deepEqual(calls[1], [
        'document',
        { domain: 'D', name: 'M' },
        kind,
        { version: 2, baseUrl: BASE },
      ]);
    }
  });

  it('a model shows its times and its sunset, whether or not it is deprecated', async () => {
    const { deprecatedAt, sunsetAt } = LIFECYCLE;
    for (const [times, shown] of [
      [{}, {}],
      [{ sunsetAt }, { sunset: '2026-01-01T00:00:00.000Z' }],
      [{ deprecatedAt }, { deprecatedAt: '1970-01-01T00:00:05.999Z' }],
    ] as const) {
      const lifecycle = { deprecatedAt: undefined, sunsetAt: undefined, ...times };
      const { service } = serviceOf({ get: { ...MODEL_DETAILS, ...lifecycle } });
      const body = jsonOf(await call(modelEndpoints(service), 'getModel', { params }));
      assert.deepEqual(body, {
        ...{ domain: 'D', name: 'M', compatibility: 'none', status: 'deprecated', ...shown, version: 3 },
        ...{
          contextName: 'D~M',
          createdAt: '1970-01-01T00:00:01.000Z',
          modifiedAt: '1970-01-01T00:00:02.000Z',
        },
        ...{ dialect: '2020-12', schema: true, references: ['urn:r'], warnings: [] },
      });
    }
  });
});

describe('lists of the API', () => {
  it('a search keeps its filters in the link to the next page', async () => {
    const { calls, service } = serviceOf({ search: { items: [MODEL_DETAILS], total: 9 } });
    const query = { q: 'a b', type: 'T', attribute: undefined, limit: 1, offset: 2 };
    const { headers } = await call(modelEndpoints(service), 'searchModels', { query });
    const filter = { q: 'a b', type: 'T', attribute: undefined };
    assert.deepEqual(calls, [['search', filter, { limit: 1, offset: 2 }]]);
    assert.equal(headers?.['link'], `<${API}/models?q=a+b&type=T&limit=1&offset=3>; rel="next"`);
  });

  it('the warnings of a context are paged', async () => {
    const warnings = ['a', 'b', 'c', 'd'].map((term) => ({ code: 'x', term, detail: '', models: [] }));
    const { service } = serviceOf({ context: { warnings } });
    const listed = async (limit: number, offset: number) => {
      const given = { params: { domain: 'D' }, query: { limit, offset } };
      const answer = await call(domainContextEndpoints(service), 'listDomainContextWarnings', given);
      const terms = (jsonOf(answer) as typeof warnings).map(({ term }) => term);
      return [terms, answer.headers?.['x-total-count'], answer.headers?.['link'] !== undefined];
    };
    assert.deepEqual(await listed(2, 0), [['a', 'b'], '4', true]);
    assert.deepEqual(await listed(2, 2), [['c', 'd'], '4', false]);
    assert.deepEqual(await listed(2, 1), [['b', 'c'], '4', true]);
  });

  it('a reference is read by its URI alone: limit and offset are for the list, at any value', async () => {
    const held = { bytes: Buffer.from('{}'), mediaType: 'application/json', etag: 'e' };
    const { calls, service } = serviceOf({ list: { items: [], total: 0 }, get: held });
    const endpoints = referenceEndpoints(service, service);
    for (const query of [{ limit: 1 }, { offset: 1 }, { offset: 0 }])
      await assert.rejects(
        call(endpoints, 'getReferences', { query: { uri: 'urn:a', ...query } }),
        isRefusal(400),
      );
    assert.deepEqual(calls, []);
    await call(endpoints, 'getReferences', { query: { uri: 'urn:a' } });
    await call(endpoints, 'getReferences', { query: {} });
    await call(endpoints, 'getReferences', { query: { limit: 7, offset: 9 } });
    assert.deepEqual(calls, [
      ['get', 'urn:a'],
      ['list', { limit: 100, offset: 0 }],
      ['list', { limit: 7, offset: 9 }],
    ]);
  });
});

describe('work on bodies', () => {
  it('each tool of the workbench gets the text, the signal, and every option of the request', async () => {
    const signal = DISCONNECTED;
    for (const [id, given, expected] of [
      [
        'inferSchema',
        { query: { model: 'M', form: 'ngsiv2', enum: true, strict: false } },
        ['infer', 't', { model: 'M', form: 'ngsiv2', enumerates: true, isStrict: false, signal }],
      ],
      ['expandJsonLd', {}, ['expand', 't', { baseUrl: BASE, signal }]],
      ['compactJsonLd', {}, ['compact', 't', { baseUrl: BASE, signal }]],
      [
        'validateByType',
        { query: { domain: 'D', form: 'concise', strict: false } },
        ['validateByType', 't', { domain: 'D', form: 'concise', isStrict: false, signal }],
      ],
      [
        'validateEntity',
        { params: { domain: 'D', model: 'M' }, query: { version: 2, form: 'concise', strict: false } },
        [
          'validate',
          { domain: 'D', name: 'M' },
          't',
          { version: 2, form: 'concise', isStrict: false, signal },
        ],
      ],
    ] as const) {
      // oxfmt-ignore
      const { calls, service } = serviceOf({ infer: '{}', expand: '{}', compact: '{}', validate: '{}', validateByType: '{}' });
      await call(workbenchEndpoints(service), id, { ...given, text: 't', signal });
      assert.deepEqual(calls, [expected], id);
    }
  });

  it('an export is called by its domain', async () => {
    const { calls, service } = serviceOf({ export: [] });
    const named = async (domain: string | undefined) => {
      const { headers } = await call(transferEndpoints(service, 1), 'exportModels', { query: { domain } });
      return headers?.['content-disposition'];
    };
    assert.equal(await named('City'), 'attachment; filename="City.tar.gz"');
    assert.equal(await named(undefined), 'attachment; filename="models.tar.gz"');
    assert.deepEqual(calls, [
      ['export', 'City', BASE],
      ['export', undefined, BASE],
    ]);
  });

  it('every method but GET, HEAD and OPTIONS is a write that needs the token, unless it computes alone', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
      assert.equal(isWrite(method), true, method);
      assert.equal(needsToken(method, {}), true, method);
      assert.equal(needsToken(method, { isComputation: true }), false, method);
    }
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      assert.equal(needsToken(method, {}), false, method);
      assert.equal(needsToken(method, { isPrivate: true }), true, method);
    }
  });
});

describe('retention policies over HTTP', () => {
  const endpointsOf = (service: never) => retentionEndpoints({ retention: service, hasToken: false });
  const params = { retentionPolicy: 'Old' };
  const REPORT = { matched: 3, sample: ['urn:a:1'], unit: undefined, isLowerBound: undefined };
  const PREVIEW = { id: 'p-1', cutoff: 'c', query: 'q', report: REPORT, reportAbove: undefined };

  it('a run or a preview is refused for each header that names other data than the policy', async () => {
    for (const header of ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link']) {
      const { calls, service } = serviceOf({ preview: PREVIEW, run: { id: 'p-1' } });
      for (const id of ['previewRetentionPolicy', 'runRetentionPolicy'])
        await assert.rejects(
          call(endpointsOf(service), id, { params, headers: { [header]: 'x' } }),
          (error) => {
            assert.ok(isRefusal(400)(error), header);
            assert.match((error as Error).message, new RegExp(`\\b${header}\\b`));
            return true;
          },
        );
      assert.deepEqual(calls, []);
    }
  });

  it('a policy is put under the name of its path alone, which must be one that a policy can have', async () => {
    const { calls, service } = serviceOf({});
    for (const name of ['old', 'OLD', 'Old2', ''])
      await assert.rejects(
        call(endpointsOf(service), 'putRetentionPolicy', { params, body: { name } }),
        isRefusal(400),
        name,
      );
    for (const retentionPolicy of ['-a', 'a b', 'ä', `a${'b'.repeat(128)}`])
      await assert.rejects(
        call(endpointsOf(service), 'putRetentionPolicy', { params: { retentionPolicy }, body: {} }),
        isRefusal(404),
        retentionPolicy,
      );
    assert.deepEqual(calls, []);
  });

  it('what a policy leaves out gets its default, and what it gives is kept, also false and 0', async () => {
    const policy = {
      name: 'Old',
      settings: {},
      author: { caller: 'c' },
      etag: 'e',
      createdAt: 1,
      modifiedAt: 2,
    };
    const settingsOf = async (body: object) => {
      const { calls, service } = serviceOf({ create: policy });
      const answer = await call(endpointsOf(service), 'createRetentionPolicy', {
        body: { name: 'Old', ...body },
      });
      assert.equal(answer.headers?.['location'], `${API}/retention-policies/Old`);
      return calls[0]?.[2];
    };
    assert.deepEqual(await settingsOf({}), { timeZone: 'UTC', maxGrowth: 3, mode: 'report', enabled: true });
    const given = { timeZone: 'Europe/Madrid', maxGrowth: 0, mode: 'enforce', enabled: false, query: 'q' };
    assert.deepEqual(await settingsOf(given), given);
  });

  it('a preview names its record, and says of its counts whether there are more, and of what', async () => {
    const shown = async (preview: object) => {
      const { service } = serviceOf({ preview: { ...PREVIEW, ...preview } });
      const answer = await call(endpointsOf(service), 'previewRetentionPolicy', { params });
      assert.equal(answer.headers?.['purge-id'], 'p-1');
      assert.equal(answer.etag, undefined);
      return jsonOf(answer);
    };
    const counts = { matched: 3, sample: ['urn:a:1'], cutoff: 'c', query: 'q' };
    assert.deepEqual(await shown({}), counts);
    const more = { report: { ...REPORT, unit: 'instances', isLowerBound: true }, reportAbove: 2 };
    assert.deepEqual(await shown(more), { ...counts, unit: 'instances', reportAbove: 2, atLeast: true });
  });

  it('a status of the broker is not one of the policy, and the record of the preview is kept', async () => {
    const refusal = new BrokerRefusedError('list entities', {
      type: 'about:blank',
      title: 'No',
      status: 404,
    });
    const record = { id: 'p-7' } as never;
    for (const [error, isRecorded] of [
      [refusal, false],
      [new PurgeFailedError(refusal, record, true), true],
    ] as const) {
      const { service } = serviceOf({ preview: error });
      await assert.rejects(call(endpointsOf(service), 'previewRetentionPolicy', { params }), (thrown) => {
        const ours = isRecorded ? (thrown as PurgeFailedError).cause : thrown;
        assert.ok(isRefusal(502)(ours));
        if (isRecorded) {
          assert.ok(thrown instanceof PurgeFailedError);
          assert.deepEqual([thrown.record, thrown.hasBegun], [record, true]);
        }
        return true;
      });
    }
    const others = new Error('Wrong.');
    const { service } = serviceOf({ preview: others });
    await assert.rejects(
      call(endpointsOf(service), 'previewRetentionPolicy', { params }),
      (error) => error === others,
    );
  });
});

describe('the events of a purge', () => {
  const RECORD = { id: 'p-1', state: 'running', deleted: 0 };
  const DONE = { ...RECORD, state: 'succeeded', deleted: 3 };

  async function watched(records: readonly object[], record: object, seen?: string, method = 'GET') {
    const { service } = serviceOf({ get: record });
    const watch = async function* () {
      yield* records;
    };
    const purges = Object.assign(Object.create(service) as object, { watch }) as never;
    const endpoints = purgeEndpoints({ purges, hasToken: false });
    const headers = seen === undefined ? {} : { 'last-event-id': seen };
    const request = { headers, method, id: 'r' } as unknown as FastifyRequest;
    const answer = await call(endpoints, 'watchPurge', { params: { purge: 'p-1' }, request });
    let text = '';
    for await (const part of answer.stream?.text ?? []) text += String(part);
    return { answer, text };
  }

  it('a stream of events has an event for each record, but not for the one that the client has', async () => {
    const { text, answer } = await watched([RECORD, DONE], RECORD);
    const events = [...text.matchAll(/^id: (\S{16})\ndata: (.*)\n\n/gm)];
    assert.deepEqual(
      events.map(([, , data = '']) => JSON.parse(data) as unknown),
      [RECORD, DONE],
    );
    assert.deepEqual([answer.status, answer.headers], [200, { 'x-accel-buffering': 'no' }]);
    const [first, last] = events.map(([, id]) => id);
    assert.equal(
      (await watched([RECORD, DONE], RECORD, first)).text,
      text.slice(text.indexOf(`id: ${last}`)),
    );
  });

  it('a stream of events is 204 only to a client that has the final record', async () => {
    const { text } = await watched([DONE], DONE);
    const id = /^id: (\S+)/.exec(text)?.[1] ?? '';
    assert.equal((await watched([DONE], DONE, id)).answer.status, 204);
    for (const other of ['x', '', id.slice(1)]) {
      const { answer, text: again } = await watched([DONE], DONE, other);
      assert.deepEqual([answer.status, again], [200, text], other);
    }
    const running = await watched([RECORD], RECORD);
    const its = /^id: (\S+)/.exec(running.text)?.[1] ?? '';
    assert.equal((await watched([RECORD], RECORD, its)).answer.status, 200);
  });

  it('a stream of events shows that it is alive every fifteen seconds without news, and leaves no timer', async (t) => {
    const timers = new Map<unknown, { readonly ms: unknown; readonly fire: () => void }>();
    t.mock.method(globalThis, 'setTimeout', (fire: () => void, ms: number) => {
      const handle = {};
      timers.set(handle, { fire, ms });
      return handle;
    });
    t.mock.method(globalThis, 'clearTimeout', (handle: unknown) => timers.delete(handle));
    const news: { readonly tell: (record: object) => void; readonly fail: (error: Error) => void }[] = [];
    const records = {
      next: () =>
        new Promise((resolve, fail) => {
          news.push({ tell: (value) => resolve({ done: false, value }), fail });
        }),
    };
    const { service } = serviceOf({ get: RECORD });
    const purges = Object.assign(Object.create(service) as object, { watch: () => records }) as never;
    const request = { headers: {}, method: 'GET', id: 'r' } as unknown as FastifyRequest;
    const endpoints = purgeEndpoints({ purges, hasToken: false });
    const { stream } = await call(endpoints, 'watchPurge', { params: { purge: 'p-1' }, request });
    assert.ok(stream !== undefined && typeof stream.text !== 'string');
    const parts = stream.text[Symbol.asyncIterator]();
    for (let beat = 0; beat < 2; beat += 1) {
      const part = parts.next();
      const [timer, ...others] = timers.values();
      assert.deepEqual([timer?.ms, others], [15_000, []]);
      timer?.fire();
      assert.equal((await part).value, ': still there\n\n');
      assert.equal(timers.size, 0);
    }
    // The record that was waited for before is still the next one.
    const told = parts.next();
    assert.equal(news.length, 1);
    news[0]?.tell(DONE);
    assert.match(String((await told).value), /"succeeded"/);
    const failed = parts.next();
    news[1]?.fail(new Error('The store is away.'));
    await assert.rejects(failed, /away/);
    assert.equal(timers.size, 0);
  });
});

describe('the status of the gateway', () => {
  const status = async (brokerStatus: number, isReady: boolean, isShuttingDown = false) => {
    const fact = (value: number, time: string) => ({ value, atMs: Date.parse(time) });
    const endpoint = statusEndpoint({
      client: { send: async () => ({ status: brokerStatus }) } as never,
      schemas: serviceOf({ isReady }).service,
      isShuttingDown: () => isShuttingDown,
      learnt: () => ({
        entities: new Map([['page-max', fact(20, '2026-01-02T03:04:05.006Z')]]),
        temporal: new Map([['batch-max', fact(7, '2026-02-03T04:05:06.007Z')]]),
      }),
    });
    return jsonOf(await call([endpoint], 'getStatus')) as Record<string, unknown>;
  };

  it('the status says of each lesson when it was learnt, and what it is', async () => {
    const { learnt } = await status(200, true);
    assert.deepEqual(learnt, [
      {
        ...{ collection: 'entities', name: 'page-max', kind: 'limit' },
        ...{ detail: 'Pages of more than 20 are refused.', learntAt: '2026-01-02T03:04:05.006Z' },
      },
      {
        ...{ collection: 'temporal', name: 'batch-max', kind: 'limit' },
        ...{
          detail: 'Batch deletes of more than 7 ids are refused.',
          learntAt: '2026-02-03T04:05:06.007Z',
        },
      },
    ]);
  });

  it('the status is that of broker and database, each for itself, with what was learnt in any case', async () => {
    for (const [broker, isReady, isShuttingDown, ...expected] of [
      [200, true, false, 'up', 'up', 'up'],
      [404, true, false, 'up', 'up', 'up'],
      [500, true, false, 'down', 'down', 'up'],
      [200, false, false, 'down', 'up', 'down'],
      [200, true, true, 'shutting down', 'not asked', 'not asked'],
    ] as const) {
      const found = await status(broker, isReady, isShuttingDown);
      assert.deepEqual([found['status'], found['broker'], found['database']], expected);
      assert.equal((found['learnt'] as readonly unknown[]).length, 2);
    }
  });
});
