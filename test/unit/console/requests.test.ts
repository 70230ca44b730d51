import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pageParams, type RetentionSettings } from '../../../console/api/client.js';
import { listPurges } from '../../../console/history/history-list.js';
import * as contexts from '../../../console/models/contexts-api.js';
import { dryRunWrite, writeModel } from '../../../console/models/model-write.js';
import * as models from '../../../console/models/models-api.js';
import * as references from '../../../console/models/references-api.js';
import { EMPTY_FORM, formOf } from '../../../console/purge/form.js';
import { startPurge } from '../../../console/purge/purge-api.js';
import * as writePolicies from '../../../console/quality/write-policies-api.js';
import * as policies from '../../../console/retention/policies-api.js';
import { EMPTY_WORKBENCH } from '../../../console/workbench/state.js';
import * as workbench from '../../../console/workbench/workbench-api.js';
import { openTab } from './open-tab.js';

const { signal } = new AbortController();
const CAR = { domain: 'City', name: 'Car/x' };
const CAR_PATH = 'api/v2/domains/City/models/Car%2Fx';
const SETTINGS: RetentionSettings = {
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P1D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
  timeZone: 'UTC',
  mode: 'report',
  enabled: true,
};
const READ = { etag: '"7"' };
const document = { text: '{"a": 1e0}', etag: '"7"' };
const bench = { ...EMPTY_WORKBENCH, text: '{"id": 1e0}' };
const inline = { ...bench, context: 'inline', inline: '{"a": "b"}' } as const;
const car = formOf('entities', 'type=Car&maxAffected=3', { tenant: ' madrid ', link: ' <u> ' });

type Requests = readonly (readonly [ask: () => Promise<unknown>, sent: string])[];

/**
 * Writes, and the one request that each sends: its line, its headers except the media type, and its body. Types check the rest.
 */
const WRITES: Requests = [
  [() => models.createDomain({ name: 'C' }), 'POST api/v2/domains {"name":"C"}'],
  [
    () => models.updateDomain('C', { description: null }, '"7"'),
    'PUT api/v2/domains/C if-match="7" {"description":null}',
  ],
  [() => models.removeDomain('C', false, '"7"'), 'DELETE api/v2/domains/C if-match="7"'],
  [() => models.removeDomain('C', true, '"7"'), 'DELETE api/v2/domains/C?cascade=true if-match="7"'],
  [() => models.removeModel(CAR, '"7"'), `DELETE ${CAR_PATH} if-match="7"`],
  [
    () => writeModel(CAR, { schemaText: '{}', settings: { status: 'draft' } }, READ),
    `PUT ${CAR_PATH} if-match="7" {"status":"draft","schema":\n{}\n}`,
  ],
  [
    () => writeModel(CAR, { settings: { description: 'x' } }, 'absent'),
    `PUT ${CAR_PATH} if-none-match=* {"description":"x"}`,
  ],
  [
    () => contexts.createContext('a"b', '{"x": 1e0}'),
    'POST api/v2/contexts {"name":"a\\"b","@context":\n{"x": 1e0}\n}',
  ],
  [() => contexts.updateContext('a', '[]', '"7"'), 'PUT api/v2/contexts/a if-match="7" {"@context":\n[]\n}'],
  [() => contexts.removeContext('a', '"7"'), 'DELETE api/v2/contexts/a if-match="7"'],
  [
    () => references.updateDependents('u:x', document, false),
    'PUT api/v2/references?uri=u%3Ax&dependents=true if-match="7" {"a": 1e0}',
  ],
  [() => references.removeReference('u:x', '"7"'), 'DELETE api/v2/references?uri=u%3Ax if-match="7"'],
  [
    () => policies.writePolicy('a/b', SETTINGS, undefined),
    `PUT api/v2/retention-policies/a%2Fb if-none-match=* ${JSON.stringify(SETTINGS)}`,
  ],
  [
    () => policies.writePolicy('a', SETTINGS, '"7"'),
    `PUT api/v2/retention-policies/a if-match="7" ${JSON.stringify(SETTINGS)}`,
  ],
  [() => policies.removePolicy('a', '"7"'), 'DELETE api/v2/retention-policies/a if-match="7"'],
  [() => policies.runPolicy('a', '"7"'), 'POST api/v2/retention-policies/a/run if-match="7"'],
  [
    () => writePolicies.putWritePolicy('w', { mode: 'off' }, undefined),
    'PUT api/v2/write-policies/w if-none-match=* {"mode":"off"}',
  ],
  [
    () => writePolicies.putWritePolicy('w', { mode: 'off' }, '"7"'),
    'PUT api/v2/write-policies/w if-match="7" {"mode":"off"}',
  ],
  [() => writePolicies.removeWritePolicy('w', '"7"'), 'DELETE api/v2/write-policies/w if-match="7"'],
  [
    () => startPurge(car),
    'DELETE ngsi-ld/v1/entities?type=Car&maxAffected=3 link=<u> ngsild-tenant=madrid prefer=respond-async',
  ],
  [
    () => startPurge({ ...EMPTY_FORM, target: 'temporal', fields: { type: 'A', drop: 'x' }, tenant: ' ' }),
    'DELETE ngsi-ld/v1/temporal/entities?type=A prefer=respond-async',
  ],
];

/** Requests that change nothing, though their methods could. */
const READS: Requests = [
  [
    () => models.validate({ domain: 'a b', name: 'c' }, '{"a": 1e0}'),
    'POST api/v2/validate/a%20b/c {"a": 1e0}',
  ],
  [
    () => dryRunWrite(CAR, { schemaText: '{"a": 1e0}' }, READ, signal),
    `PUT ${CAR_PATH}?dryRun=true if-match="7" {"schema":\n{"a": 1e0}\n}`,
  ],
  [
    () => references.updateDependents('u:x', document, true),
    'PUT api/v2/references?uri=u%3Ax&dependents=true&dryRun=true if-match="7" {"a": 1e0}',
  ],
  [
    () => workbench.validate({ ...bench, model: ' ' }, signal),
    'POST api/v2/validate?strict=true {"id": 1e0}',
  ],
  [
    () => workbench.validate({ ...bench, model: ' City/Car x ', form: 'ngsiv2', isStrict: false }, signal),
    'POST api/v2/validate/City/Car%20x?form=ngsiv2&strict=false {"id": 1e0}',
  ],
  [
    () => workbench.process('expand', inline, signal),
    'POST api/v2/workbench/jsonld/expand {"document":{"id": 1e0},"context":{"a": "b"}}',
  ],
  [
    () => workbench.process('compact', { ...bench, text: '{"@context" : 1}' }, signal),
    'POST api/v2/workbench/jsonld/compact {"document":{"@context" : 1}}',
  ],
];

const page = openTab();

it('each write is one request with its condition and its body, and is marked as a write', async () => {
  for (const [requests, mayHaveArrived] of [
    [WRITES, true],
    [READS, false],
  ] as const)
    for (const [ask, expected] of requests) {
      page.sent.length = 0;
      page.answer = () => Response.json([]);
      await ask().catch((error: unknown) => assert.fail(`${expected}: ${String(error)}`));
      const sent = page.sent.map(({ headers, body }, index) => {
        const own = [...headers].filter(([name]) => name !== 'content-type').map((one) => one.join('='));
        assert.equal(headers.get('content-type'), body === '' ? null : 'application/json');
        return [page.lines[index], ...own, ...(body === '' ? [] : [body])].join(' ');
      });
      assert.deepEqual(sent, [expected]);
      page.answer = () => {
        throw new TypeError('fetch failed');
      };
      await assert.rejects(ask(), { name: 'UnreachableError', mayHaveArrived }, expected);
    }
});

it('a document is read together with the ETag by which it is changed', async () => {
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

it('a search in a list reads pages until it finds the item', async () => {
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

it('reading a list that shrinks in the meantime terminates', async () => {
  const full = Array.from({ length: 1000 }, () => ({ name: 'a', uri: 'a' }));
  page.answer = (_request, index) =>
    Response.json(index === 0 ? full : [], { headers: { 'x-total-count': '9999' } });
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

it('verdicts are a list, whether one or more entities were checked', async () => {
  page.answer = () => Response.json({ valid: true });
  assert.deepEqual(await workbench.validate(bench, signal), [{ valid: true }]);
  page.answer = () => Response.json([{ valid: true }, { valid: false }]);
  assert.equal((await workbench.validate(bench, signal)).length, 2);
});

it('the context of the workbench is the chosen one, and the core context if a document has none', () => {
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

it('the history is requested by the filled-in fields, without dry runs unless they are wanted', async () => {
  const none = {
    state: '',
    tenant: '',
    caller: '',
    retentionPolicy: '',
    from: '',
    to: '',
    text: '',
    type: '',
    dry: '',
  } as const;
  const lineOf = async (filters: object, at = 1) => {
    page.answer = () => Response.json([]);
    await listPurges({ ...none, ...filters }, pageParams(at, 25), signal);
    return page.lines.at(-1)?.replace('GET api/v2/purges?', '');
  };
  assert.equal(await lineOf({}), 'dryRun=false&limit=25&offset=0');
  assert.equal(await lineOf({ dry: 'shown' }, 3), 'limit=25&offset=50');
  // Whole days in the time zone of the browser.
  const day = new URLSearchParams(await lineOf({ from: '2026-03-01', to: '2026-03-01' }));
  const [since, until] = ['since', 'until'].map((name) => new Date(day.get(name) ?? '').getTime());
  assert.deepEqual([since, until], [new Date(2026, 2, 1).getTime(), new Date(2026, 2, 2).getTime()]);
  for (const name of ['state', 'tenant', 'caller', 'text', 'type'])
    assert.equal(await lineOf({ [name]: 'a&b' }), `${name}=a%26b&dryRun=false&limit=25&offset=0`);
});
