import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { OfflineError, type RetentionSettings } from '../../../console/api/client.js';
import { listOf } from '../../../console/history/history-list.js';
import * as contexts from '../../../console/models/contexts-api.js';
import { tryWrite, writeModel } from '../../../console/models/model-write.js';
import * as models from '../../../console/models/models-api.js';
import * as references from '../../../console/models/references-api.js';
import { EMPTY_FORM, formOf } from '../../../console/purge/form.js';
import { startPurge } from '../../../console/purge/order.js';
import * as policies from '../../../console/retention/policies-api.js';
import { EMPTY_BENCH } from '../../../console/workbench/bench.js';
import * as workbench from '../../../console/workbench/workbench-api.js';
import { FakePage, HOME } from './fake-page.js';

const { signal } = new AbortController();
const CAR = { domain: 'City', name: 'Car/x' };
const CAR_PATH = 'api/v2/domains/City/models/Car%2Fx';
const URI = 'https://a.test/x?y#z';
const URI_PATH = 'api/v2/references?uri=https%3A%2F%2Fa.test%2Fx%3Fy%23z';
const POLICY_PATH = 'api/v2/retention-policies/old%2Fcars';
const SETTINGS: RetentionSettings = {
  ...{ target: 'entities', query: 'type=Car', olderThan: 'P1D', by: 'modifiedAt', schedule: '0 3 * * *' },
  ...{ timeZone: 'UTC', mode: 'report', enabled: true },
};
const IF_MATCH = { 'if-match': '"7"' };
const JSON_BODY = { 'content-type': 'application/json' };
const bench = { ...EMPTY_BENCH, text: '{"id": 1e0}' };

interface Sent {
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Where its answer is lost, it may have changed something. */
  readonly isWrite?: true;
}

/** What is asked for, and the one request that asks for it. */
const REQUESTS: readonly (readonly [string, () => Promise<unknown>, Sent])[] = [
  [
    'a page of domains',
    () => models.listDomains(3, signal),
    { line: 'GET api/v2/domains?limit=25&offset=50' },
  ],
  ['a domain', () => models.readDomain('a b', signal), { line: 'GET api/v2/domains/a%20b' }],
  [
    'a new domain',
    () => models.createDomain({ name: 'City' }),
    { line: 'POST api/v2/domains', headers: JSON_BODY, body: '{"name":"City"}', isWrite: true },
  ],
  [
    'a change of a domain, as it was read',
    () => models.updateDomain('City', { description: null }, '"7"'),
    {
      line: 'PUT api/v2/domains/City',
      headers: { ...IF_MATCH, ...JSON_BODY },
      ...{ body: '{"description":null}', isWrite: true },
    },
  ],
  [
    'the removal of a domain, as it was read',
    () => models.removeDomain('City', false, '"7"'),
    { line: 'DELETE api/v2/domains/City', headers: IF_MATCH, isWrite: true },
  ],
  [
    'the removal of a domain and its models, as it was read',
    () => models.removeDomain('City', true, '"7"'),
    { line: 'DELETE api/v2/domains/City?cascade=true', headers: IF_MATCH, isWrite: true },
  ],
  [
    'the models of a domain',
    () => models.listModels('a/b', 2, signal),
    { line: 'GET api/v2/domains/a%2Fb/models?limit=25&offset=25' },
  ],
  [
    'the warnings of a domain',
    () => models.domainWarnings('City', signal),
    { line: 'GET api/v2/domains/City/context/warnings' },
  ],
  [
    'models by what they have',
    () => models.searchModels({ q: '', type: 'Car', attribute: 'a&b' }, 2, signal),
    { line: 'GET api/v2/models?type=Car&attribute=a%26b&limit=25&offset=25' },
  ],
  ['a model', () => models.readModel(CAR, signal), { line: `GET ${CAR_PATH}` }],
  ['a version of a model', () => models.readModel(CAR, signal, 3), { line: `GET ${CAR_PATH}?version=3` }],
  [
    'the removal of a model, as it was read',
    () => models.removeModel(CAR, '"7"'),
    { line: `DELETE ${CAR_PATH}`, headers: IF_MATCH, isWrite: true },
  ],
  [
    'the versions of a model',
    () => models.listVersions(CAR, 2, signal),
    { line: `GET ${CAR_PATH}/versions?limit=1000&offset=1000` },
  ],
  [
    'what differs between two versions',
    () => models.diffVersions(CAR, 1, 4, signal),
    { line: `GET ${CAR_PATH}/versions/diff?from=1&to=4` },
  ],
  [
    'whether an entity is valid',
    () => models.validate({ domain: 'a b', name: 'c' }, '{"a": 1e0}'),
    { line: 'POST api/v2/validate/a%20b/c', headers: JSON_BODY, body: '{"a": 1e0}' },
  ],
  [
    'a schema from samples',
    () => models.inferSchema('[{}]', { form: 'ngsiv2' }, signal),
    { line: 'POST api/v2/workbench/schema/infer?form=ngsiv2', headers: JSON_BODY, body: '[{}]' },
  ],
  [
    'what a write of a model would do',
    () => tryWrite(CAR, { schemaText: '{"a": 1e0}' }, { etag: '"7"' }, signal),
    {
      line: `PUT ${CAR_PATH}?dryRun=true`,
      headers: { ...IF_MATCH, ...JSON_BODY },
      body: '{"schema":\n{"a": 1e0}\n}',
    },
  ],
  [
    'a model in place of the one that was read',
    () => writeModel(CAR, { schemaText: '{}', settings: { status: 'draft' } }, { etag: '"7"' }),
    {
      line: `PUT ${CAR_PATH}`,
      headers: { ...IF_MATCH, ...JSON_BODY },
      ...{ body: '{"status":"draft","schema":\n{}\n}', isWrite: true },
    },
  ],
  [
    'a model in place of none',
    () => writeModel(CAR, { settings: { description: 'x' } }, 'absent'),
    {
      line: `PUT ${CAR_PATH}`,
      headers: { 'if-none-match': '*', ...JSON_BODY },
      ...{ body: '{"description":"x"}', isWrite: true },
    },
  ],
  [
    'a page of contexts',
    () => contexts.listContexts(2, signal),
    { line: 'GET api/v2/contexts?limit=25&offset=25' },
  ],
  ['a context', () => contexts.readContext('a/b', signal), { line: 'GET api/v2/contexts/a%2Fb' }],
  [
    'a version of a context',
    () => contexts.readContext('a', signal, '2'),
    { line: 'GET api/v2/contexts/a?version=2' },
  ],
  [
    'a new context',
    () => contexts.createContext('a"b', '{"x": 1e0}'),
    {
      line: 'POST api/v2/contexts',
      ...{ headers: JSON_BODY, body: '{"name":"a\\"b","@context":\n{"x": 1e0}\n}', isWrite: true },
    },
  ],
  [
    'a change of a context, as it was read',
    () => contexts.updateContext('a', '[]', '"7"'),
    {
      line: 'PUT api/v2/contexts/a',
      headers: { ...IF_MATCH, ...JSON_BODY },
      ...{ body: '{"@context":\n[]\n}', isWrite: true },
    },
  ],
  [
    'the removal of a context, as it was read',
    () => contexts.removeContext('a', '"7"'),
    { line: 'DELETE api/v2/contexts/a', headers: IF_MATCH, isWrite: true },
  ],
  [
    'what terms mean',
    () => contexts.expandWith('u', { a: 1 }, signal),
    {
      line: 'POST api/v2/workbench/jsonld/expand',
      ...{ headers: JSON_BODY, body: '{"document":{"a":1},"context":"u"}' },
    },
  ],
  [
    'a page of reference documents',
    () => references.listReferences(2, signal),
    { line: 'GET api/v2/references?limit=25&offset=25' },
  ],
  ['a reference document', () => references.readReference(URI, signal), { line: `GET ${URI_PATH}` }],
  [
    'the models that a document makes outdated',
    () => references.updateDependents(URI, { text: '{"a": 1e0}', etag: '"7"' }, true),
    {
      line: `PUT ${URI_PATH}&dependents=true&dryRun=true`,
      ...{ headers: { ...IF_MATCH, ...JSON_BODY }, body: '{"a": 1e0}' },
    },
  ],
  [
    'an update of the models that a document makes outdated, as it was read',
    () => references.updateDependents(URI, { text: '{}', etag: '"7"' }, false),
    {
      line: `PUT ${URI_PATH}&dependents=true`,
      ...{ headers: { ...IF_MATCH, ...JSON_BODY }, body: '{}', isWrite: true },
    },
  ],
  [
    'the removal of a reference document, as it was read',
    () => references.removeReference(URI, '"7"'),
    { line: `DELETE ${URI_PATH}`, headers: IF_MATCH, isWrite: true },
  ],
  [
    'a page of policies',
    () => policies.listPolicies(2, 50, signal),
    { line: 'GET api/v2/retention-policies?limit=50&offset=50' },
  ],
  ['a policy', () => policies.readPolicy('old/cars', signal), { line: `GET ${POLICY_PATH}` }],
  [
    'a new policy',
    () => policies.writePolicy('old/cars', SETTINGS, undefined),
    {
      line: `PUT ${POLICY_PATH}`,
      headers: { 'if-none-match': '*', ...JSON_BODY },
      ...{ body: JSON.stringify(SETTINGS), isWrite: true },
    },
  ],
  [
    'a change of a policy, as it was read',
    () => policies.writePolicy('old/cars', SETTINGS, '"7"'),
    {
      line: `PUT ${POLICY_PATH}`,
      headers: { ...IF_MATCH, ...JSON_BODY },
      ...{ body: JSON.stringify(SETTINGS), isWrite: true },
    },
  ],
  [
    'the removal of a policy, as it was read',
    () => policies.removePolicy('old/cars', '"7"'),
    { line: `DELETE ${POLICY_PATH}`, headers: IF_MATCH, isWrite: true },
  ],
  [
    'what a policy would delete',
    () => policies.previewPolicy('old/cars', signal),
    { line: `GET ${POLICY_PATH}/preview` },
  ],
  [
    'a run of a policy',
    () => policies.runPolicy('old/cars', '"7"'),
    { line: `POST ${POLICY_PATH}/run`, headers: IF_MATCH, isWrite: true },
  ],
  [
    'the runs of a policy',
    () => policies.runsOf('old/cars', signal),
    { line: `GET ${POLICY_PATH}/runs?limit=20` },
  ],
  [
    'a purge',
    () => startPurge(formOf('entities', 'type=Car&maxAffected=3', { tenant: ' madrid ', link: ' <u> ' })),
    {
      line: 'DELETE ngsi-ld/v1/entities?type=Car&maxAffected=3',
      headers: { prefer: 'respond-async', 'ngsild-tenant': 'madrid', link: '<u>' },
      isWrite: true,
    },
  ],
  [
    'a purge of the history',
    () => startPurge({ ...EMPTY_FORM, target: 'temporal', fields: { type: 'A', drop: 'x' }, tenant: ' ' }),
    {
      line: 'DELETE ngsi-ld/v1/temporal/entities?type=A',
      ...{ headers: { prefer: 'respond-async' }, isWrite: true },
    },
  ],
  [
    'a verdict by the type',
    () => workbench.validate({ ...bench, model: ' ' }, signal),
    { line: 'POST api/v2/validate?strict=true', headers: JSON_BODY, body: '{"id": 1e0}' },
  ],
  [
    'a verdict by a model',
    () => workbench.validate({ ...bench, model: ' City/Car x ', form: 'ngsiv2', isStrict: false }, signal),
    {
      line: 'POST api/v2/validate/City/Car%20x?form=ngsiv2&strict=false',
      ...{ headers: JSON_BODY, body: '{"id": 1e0}' },
    },
  ],
  [
    'an expansion',
    () => workbench.process('expand', { ...bench, context: 'inline', inline: '{"a": "b"}' }, signal),
    {
      line: 'POST api/v2/workbench/jsonld/expand',
      ...{ headers: JSON_BODY, body: '{"document":{"id": 1e0},"context":{"a": "b"}}' },
    },
  ],
  [
    'a compaction with the context of the document',
    () => workbench.process('compact', { ...bench, text: '{"@context" : 1}' }, signal),
    {
      line: 'POST api/v2/workbench/jsonld/compact',
      ...{ headers: JSON_BODY, body: '{"document":{"@context" : 1}}' },
    },
  ],
];

/** Reads that a person has asked for by a button, and waits for. */
const GOES_ON = new Set(['whether an entity is valid', 'the models that a document makes outdated']);

describe('what the console asks for', () => {
  let page: FakePage;
  beforeEach(() => {
    page = new FakePage();
    page.enter();
  });
  afterEach(() => page.leave());

  it('each thing is asked for by one request, with its condition and its body, and is known to write or to read', async () => {
    for (const [name, ask, { line, headers = {}, body, isWrite = false }] of REQUESTS) {
      page.sent.length = 0;
      page.answer = () => Response.json([]);
      await ask().catch((error: unknown) => assert.fail(`${name}: ${String(error)}`));
      assert.deepEqual(page.lines, [line], name);
      assert.deepEqual(Object.fromEntries(page.sent[0]?.headers ?? []), headers, name);
      assert.equal(page.sent[0]?.body, body, name);
      const canBeGivenUp = page.sent[0]?.signal === signal;
      assert.equal(canBeGivenUp, !isWrite && !GOES_ON.has(name), name);
      page.answer = () => {
        throw new TypeError('fetch failed');
      };
      await assert.rejects(ask(), (error: unknown) => {
        assert.ok(error instanceof OfflineError);
        assert.equal(error.mayHaveArrived, isWrite, name);
        return true;
      });
    }
  });

  it('a document that is read has the ETag by which it is changed', async () => {
    page.answer = () => Response.json({ a: 1 }, { headers: { etag: '"9"' } });
    const value = { a: 1 };
    assert.deepEqual(await models.readDomain('a', signal), { value, etag: '"9"' });
    assert.deepEqual(await models.readModel(CAR, signal), { value, etag: '"9"' });
    assert.deepEqual(await contexts.readContext('a', signal), { value, etag: '"9"' });
    assert.deepEqual(await policies.readPolicy('a', signal), { policy: value, etag: '"9"' });
    page.answer = () => new Response('{"a": 1e0}', { headers: { etag: '"9"' } });
    assert.deepEqual(await references.readReference('a', signal), { text: '{"a": 1e0}', etag: '"9"' });
  });

  it('what a list has is found on any page of it, and no further page is asked for', async () => {
    const all = Array.from({ length: 2500 }, (_, index) => ({ name: `n${index}`, uri: `u${index}` }));
    page.answer = ({ url }) => {
      const { searchParams } = new URL(url);
      const [limit, offset] = ['limit', 'offset'].map((name) => Number(searchParams.get(name)));
      const items = all.slice(offset, (offset ?? 0) + (limit ?? 0));
      return Response.json(items, { headers: { 'x-total-count': String(all.length) } });
    };
    const asked = async (work: () => Promise<unknown>) => {
      page.sent.length = 0;
      return [await work(), page.sent.length];
    };
    for (const [at, pages] of [
      [0, 1],
      [999, 1],
      [1000, 2],
      [2499, 3],
    ] as const) {
      assert.deepEqual(await asked(() => contexts.findContext(`n${at}`, signal)), [all[at], pages]);
      assert.deepEqual(await asked(() => references.findReference(`u${at}`, signal)), [all[at], pages]);
    }
    assert.deepEqual(await asked(() => contexts.findContext('none', signal)), [undefined, 3]);
    assert.deepEqual(await asked(() => references.findReference('none', signal)), [undefined, 3]);
    assert.deepEqual(await asked(() => models.domainNames(signal)), [all.map(({ name }) => name), 3]);
  });

  it('a list that shrinks while it is read comes to an end', async () => {
    page.answer = (_request, index) =>
      Response.json(index === 0 ? [{ name: 'a', uri: 'a' }] : [], { headers: { 'x-total-count': '9' } });
    for (const read of [
      () => contexts.findContext('z', signal),
      () => references.findReference('z', signal),
      () => models.domainNames(signal),
    ]) {
      page.sent.length = 0;
      await read();
      assert.equal(page.sent.length, 2);
    }
  });

  it('verdicts are a list, whether one or more entities were asked about', async () => {
    page.answer = () => Response.json({ valid: true });
    assert.deepEqual(await workbench.validate(bench, signal), [{ valid: true }]);
    page.answer = () => Response.json([{ valid: true }, { valid: false }]);
    assert.equal((await workbench.validate(bench, signal)).length, 2);
  });

  it('the context of the workbench is the one that was chosen, and the core context where a document has none', () => {
    const core = JSON.stringify('https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld');
    const chosen = { ...bench, url: ' https://c.test ', inline: '[]' };
    const own = '{"@context":[]}';
    for (const [one, context] of [
      [{ ...chosen, context: 'own' }, core],
      [{ ...chosen, context: 'own', text: own }, undefined],
      [{ ...chosen, context: 'own', text: '{"note":"@context"}' }, core],
      [{ ...chosen, context: 'core', text: own }, core],
      [{ ...chosen, context: 'url', text: own }, '"https://c.test"'],
      [{ ...chosen, context: 'url', url: ' ' }, undefined],
      [{ ...chosen, context: 'inline', text: own }, '[]'],
      [{ ...chosen, context: 'inline', inline: ' ' }, undefined],
    ] as const)
      assert.equal(workbench.contextOf(one), context, one.context);
  });

  it('a download is fetched from the gateway that the page is of', () => {
    assert.equal(models.downloadOf('api/v2/x'), `${HOME}api/v2/x`);
  });

  it('the history is asked for by what was filled in, without dry runs unless they are wanted', () => {
    const none = { state: '', tenant: '', caller: '', dry: '' } as const;
    const path = (filters: object, page = 1) => listOf({ ...none, ...filters }, page, 25);
    assert.equal(path({}), 'api/v2/purges?dryRun=false&limit=25&offset=0');
    assert.equal(path({ dry: 'shown' }, 3), 'api/v2/purges?limit=25&offset=50');
    for (const name of ['state', 'tenant', 'caller'])
      assert.equal(path({ [name]: 'a&b' }), `api/v2/purges?${name}=a%26b&dryRun=false&limit=25&offset=0`);
    assert.match(path({ state: 'a', tenant: 'b', caller: 'c' }), /\?state=a&tenant=b&caller=c&/);
  });
});
