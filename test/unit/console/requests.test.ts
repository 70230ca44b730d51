import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UnreachableError, type RetentionSettings } from '../../../console/api/client.js';
import { listPurges } from '../../../console/history/history-list.js';
import * as contexts from '../../../console/models/contexts-api.js';
import { tryWrite, writeModel } from '../../../console/models/model-write.js';
import * as models from '../../../console/models/models-api.js';
import * as references from '../../../console/models/references-api.js';
import { EMPTY_FORM, formOf } from '../../../console/purge/form.js';
import { startPurge } from '../../../console/purge/order.js';
import * as policies from '../../../console/retention/policies-api.js';
import { EMPTY_BENCH } from '../../../console/workbench/bench.js';
import * as workbench from '../../../console/workbench/workbench-api.js';
import { openTab } from './open-tab.js';

const { signal } = new AbortController();
const CAR = { domain: 'City', name: 'Car/x' };
const CAR_LINE = 'PUT api/v2/domains/City/models/Car%2Fx';
const SETTINGS: RetentionSettings = {
  ...{ target: 'entities', query: 'type=Car', olderThan: 'P1D', by: 'modifiedAt', schedule: '0 3 * * *' },
  ...{ timeZone: 'UTC', mode: 'report', enabled: true },
};
const MATCH = { 'if-match': '"7"' };
const NONE = { 'if-none-match': '*' };
const bench = { ...EMPTY_BENCH, text: '{"id": 1e0}' };
const document = { text: '{"a": 1e0}', etag: '"7"' };

interface Sent {
  readonly body?: string;
  /** Those that are not the media type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** It changes nothing, whatever its method is. */
  readonly isRead?: true;
}

/** Requests that write, or look as if they did: their types say nothing of conditions, texts, and whether they change anything. */
const REQUESTS: readonly (readonly [() => Promise<unknown>, line: string, Sent])[] = [
  [() => models.createDomain({ name: 'C' }), 'POST api/v2/domains', { body: '{"name":"C"}' }],
  [
    () => models.updateDomain('C', { description: null }, '"7"'),
    'PUT api/v2/domains/C',
    { headers: MATCH, body: '{"description":null}' },
  ],
  [() => models.removeDomain('C', false, '"7"'), 'DELETE api/v2/domains/C', { headers: MATCH }],
  [() => models.removeDomain('C', true, '"7"'), 'DELETE api/v2/domains/C?cascade=true', { headers: MATCH }],
  [() => models.removeModel(CAR, '"7"'), CAR_LINE.replace('PUT', 'DELETE'), { headers: MATCH }],
  [
    () => models.validate({ domain: 'a b', name: 'c' }, '{"a": 1e0}'),
    'POST api/v2/validate/a%20b/c',
    { body: '{"a": 1e0}', isRead: true },
  ],
  [
    () => models.inferSchema('[{}]', { form: 'ngsiv2' }, signal),
    'POST api/v2/workbench/schema/infer?form=ngsiv2',
    { body: '[{}]', isRead: true },
  ],
  [
    () => tryWrite(CAR, { schemaText: '{"a": 1e0}' }, { etag: '"7"' }, signal),
    `${CAR_LINE}?dryRun=true`,
    { headers: MATCH, body: '{"schema":\n{"a": 1e0}\n}', isRead: true },
  ],
  [
    () => writeModel(CAR, { schemaText: '{}', settings: { status: 'draft' } }, { etag: '"7"' }),
    CAR_LINE,
    { headers: MATCH, body: '{"status":"draft","schema":\n{}\n}' },
  ],
  [
    () => writeModel(CAR, { settings: { description: 'x' } }, 'absent'),
    CAR_LINE,
    { headers: NONE, body: '{"description":"x"}' },
  ],
  [
    () => contexts.createContext('a"b', '{"x": 1e0}'),
    'POST api/v2/contexts',
    { body: '{"name":"a\\"b","@context":\n{"x": 1e0}\n}' },
  ],
  [
    () => contexts.updateContext('a', '[]', '"7"'),
    'PUT api/v2/contexts/a',
    { headers: MATCH, body: '{"@context":\n[]\n}' },
  ],
  [() => contexts.removeContext('a', '"7"'), 'DELETE api/v2/contexts/a', { headers: MATCH }],
  [
    () => contexts.expandWith('u', { a: 1 }, signal),
    'POST api/v2/workbench/jsonld/expand',
    { body: '{"document":{"a":1},"context":"u"}', isRead: true },
  ],
  [
    () => references.updateDependents('u:x', document, true),
    'PUT api/v2/references?uri=u%3Ax&dependents=true&dryRun=true',
    { headers: MATCH, body: document.text, isRead: true },
  ],
  [
    () => references.updateDependents('u:x', document, false),
    'PUT api/v2/references?uri=u%3Ax&dependents=true',
    { headers: MATCH, body: document.text },
  ],
  [() => references.removeReference('u:x', '"7"'), 'DELETE api/v2/references?uri=u%3Ax', { headers: MATCH }],
  [
    () => policies.writePolicy('a/b', SETTINGS, undefined),
    'PUT api/v2/retention-policies/a%2Fb',
    { headers: NONE, body: JSON.stringify(SETTINGS) },
  ],
  [
    () => policies.writePolicy('a', SETTINGS, '"7"'),
    'PUT api/v2/retention-policies/a',
    { headers: MATCH, body: JSON.stringify(SETTINGS) },
  ],
  [() => policies.removePolicy('a', '"7"'), 'DELETE api/v2/retention-policies/a', { headers: MATCH }],
  [() => policies.runPolicy('a', '"7"'), 'POST api/v2/retention-policies/a/run', { headers: MATCH }],
  [
    () => startPurge(formOf('entities', 'type=Car&maxAffected=3', { tenant: ' madrid ', link: ' <u> ' })),
    'DELETE ngsi-ld/v1/entities?type=Car&maxAffected=3',
    { headers: { prefer: 'respond-async', 'ngsild-tenant': 'madrid', link: '<u>' } },
  ],
  [
    () => startPurge({ ...EMPTY_FORM, target: 'temporal', fields: { type: 'A', drop: 'x' }, tenant: ' ' }),
    'DELETE ngsi-ld/v1/temporal/entities?type=A',
    { headers: { prefer: 'respond-async' } },
  ],
  [
    () => workbench.validate({ ...bench, model: ' ' }, signal),
    'POST api/v2/validate?strict=true',
    { body: bench.text, isRead: true },
  ],
  [
    () => workbench.validate({ ...bench, model: ' City/Car x ', form: 'ngsiv2', isStrict: false }, signal),
    'POST api/v2/validate/City/Car%20x?form=ngsiv2&strict=false',
    { body: bench.text, isRead: true },
  ],
  [
    () => workbench.process('expand', { ...bench, context: 'inline', inline: '{"a": "b"}' }, signal),
    'POST api/v2/workbench/jsonld/expand',
    { body: '{"document":{"id": 1e0},"context":{"a": "b"}}', isRead: true },
  ],
  [
    () => workbench.process('compact', { ...bench, text: '{"@context" : 1}' }, signal),
    'POST api/v2/workbench/jsonld/compact',
    { body: '{"document":{"@context" : 1}}', isRead: true },
  ],
];

describe('what the console asks for', () => {
  const page = openTab();

  it('each write is one request with its condition and its body, and is known to write', async () => {
    for (const [ask, line, { body = '', headers = {}, isRead = false }] of REQUESTS) {
      page.sent.length = 0;
      page.answer = () => Response.json([]);
      await ask().catch((error: unknown) => assert.fail(`${line}: ${String(error)}`));
      assert.deepEqual(page.lines, [line]);
      const [sent = assert.fail()] = page.sent;
      const type = body === '' ? {} : { 'content-type': 'application/json' };
      assert.deepEqual(Object.fromEntries(sent.headers), { ...type, ...headers }, line);
      assert.equal(sent.body, body, line);
      page.answer = () => {
        throw new TypeError('fetch failed');
      };
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof UnreachableError);
        assert.equal(error.mayHaveArrived, !isRead, line);
        return true;
      });
    }
  });

  it('a document that is read has the ETag by which it is changed', async () => {
    page.answer = () => Response.json({ a: 1 }, { headers: { etag: '"9"' } });
    const value = { a: 1 };
    for (const read of [
      () => models.readDomain('a', signal),
      () => models.readModel(CAR, signal),
      () => contexts.readContext('a', signal),
      () => policies.readPolicy('a', signal),
    ]) {
      const { value: found, etag } = await read();
      assert.deepEqual([found, etag], [value, '"9"']);
    }
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

  it('the history is asked for by what was filled in, without dry runs unless they are wanted', async () => {
    const none = { state: '', tenant: '', caller: '', dry: '' } as const;
    const lineOf = async (filters: object, at = 1) => {
      page.answer = () => Response.json([]);
      await listPurges({ ...none, ...filters }, at, 25, signal);
      return page.lines.at(-1)?.replace('GET api/v2/purges?', '');
    };
    assert.equal(await lineOf({}), 'dryRun=false&limit=25&offset=0');
    assert.equal(await lineOf({ dry: 'shown' }, 3), 'limit=25&offset=50');
    for (const name of ['state', 'tenant', 'caller'])
      assert.equal(await lineOf({ [name]: 'a&b' }), `${name}=a%26b&dryRun=false&limit=25&offset=0`);
  });
});
