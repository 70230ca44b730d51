import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { planHints, withHints } from '../../../../sidecar/purge/entities/index.js';
import type { HintPlan } from '../../../../sidecar/purge/entities/hints.js';
import { PurgeStoppedError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { previewOf } from '../../../../sidecar/purge/run/index.js';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/index.js';
import { formatParameters } from '../../../../sidecar/purge/query/index.js';
import { replyOf } from '../../../support/replies.js';
import { scopeOf } from '../hand-made-context.js';
import { queryOf } from '../refusals.js';
import { words } from '../../../support/words.js';

function planOf(given: Readonly<Record<string, string>>, dropped: readonly string[] = []) {
  const { hints, types, attributes } = planHints(
    parseEntityPurgeQuery(queryOf({ maxAffected: '1', ...given })).selection,
    dropped,
  );
  const shown = (list: typeof types) =>
    list.map(({ selection, hint }) => [decodeURIComponent(formatParameters(selection)), hint]);
  return { hints, types: shown(types), attributes: shown(attributes) };
}

it('the hints of a dry run query each type separately', () => {
  assert.deepEqual(planOf({ type: 'Car,(Bus;Tram)', id: 'urn:a:1', idPattern: 'x' }).types, [
    ['type=Car', 'No entity of type Car is listed.'],
    ['type=Bus', 'No entity of type Bus is listed.'],
    ['type=Tram', 'No entity of type Tram is listed.'],
  ]);
  assert.deepEqual(planOf({ type: '*' }).types, []);
  assert.deepEqual(planOf({ q: 'speed' }).types, []);
});

it("the hints of a dry run query each attribute that the query demands, with the query's own type", () => {
  const { attributes } = planOf({
    type: 'Car',
    q: '(speed.unit>5|!gone|x!=1);createdAt;heading',
    attrs: 'a,createdAt',
  });
  assert.deepEqual(attributes, [
    ['type=Car&attrs=a', 'No entity of type Car has the attribute a.'],
    ['type=Car&q=speed', 'No entity of type Car has the attribute speed.'],
    ['type=Car&q=heading', 'No entity of type Car has the attribute heading.'],
  ]);
  assert.deepEqual(planOf({ type: 'Car|Bus', q: 'speed', attrs: 'speed' }).attributes, [
    ['type=Car|Bus&q=speed', 'No entity of these types has the attribute speed.'],
  ]);
  assert.deepEqual(planOf({ q: 'speed>1' }).attributes, [['q=speed', 'No entity has the attribute speed.']]);
});

it('the hints of a dry run query the attributes to be dropped', () => {
  assert.deepEqual(planOf({ type: 'Car' }, ['speed']).attributes, [
    ['type=Car&attrs=speed', 'No entity of type Car has the attribute speed.'],
  ]);
});

it('the hints of a dry run query only local entities if the query does', () => {
  const { types, attributes } = planOf({ type: 'Car', local: 'true', q: 'speed' });
  assert.deepEqual(
    [types[0]?.[0], attributes[0]?.[0]],
    ['type=Car&local=true', 'type=Car&local=true&q=speed'],
  );
});

it('the hints of a dry run name each quoted time with which q compares, whatever the operator', () => {
  for (const [q, path] of [
    ['speed.observedAt<"2026-01-01T00:00:00Z"', 'speed.observedAt'],
    ['a;(b|c>="2026-01-01")', 'c'],
    ['a=="12:00:00Z"', 'a'],
    ['a!="x","2026-01-01T00:00:00.5+01:00"', 'a'],
    ['a=="2026-01-01".."2027-01-01"', 'a'],
    ['a=="a".."2027-01-01"', 'a'],
    ['a=="2026-01-01".."x"', 'a'],
  ] as const) {
    const { hints } = planOf({ q: `z;${q}` });
    assert.ok(hints.length > 0, q);
    assert.ok(
      hints.every((hint) => hint.startsWith(`q compares ${path} with "`) && hint.includes('without quotes')),
    );
  }
  for (const q of words(`
      speed.observedAt<2026-01-01T00:00:00Z a=="x" a=="2026" a=="2026-13-01" a~="2026-01-01"
      a==2026-01-01..2027-01-01 a
    `)) {
    assert.deepEqual(planOf({ q }).hints, [], q);
  }
});

const parameter = (value: string) => [{ name: 'q', value }];
const question = (name: string) => ({ selection: parameter(name), name, hint: `no ${name}` });
const PLAN: HintPlan = {
  hints: ['quoted'],
  types: ['t1', 't2', 't3'].map(question),
  attributes: ['a1', 'a2', 'a3'].map(question),
};

/** The hints of a report, at a broker that answers by a function; an entity in its answer means a match. */
async function hintsOf(
  has: readonly string[],
  more: {
    readonly answer?: (query: URLSearchParams) => BrokerReply | undefined;
    readonly questionsMax?: number;
    readonly variants?: readonly string[];
    readonly retries?: number;
    /** The lists of types and of attributes. */
    readonly names?: (path: string) => BrokerReply;
  } = {},
) {
  const asked: string[] = [];
  const resource = entities('ids');
  const scope = scopeOf({
    brokerQuery: { resource, selection: [] },
    broker: ({ path }) => {
      if (!path.startsWith('/entities')) return more.names?.(path) ?? replyOf(404, { title: 'none' });
      const query = new URLSearchParams(path.split('?')[1]);
      assert.deepEqual([query.get('limit'), query.get('count')], ['1', 'true']);
      asked.push(query.getAll('q').join(' '));
      const isThere = query.getAll('q').some((value) => has.includes(value));
      const count = { 'ngsild-results-count': isThere ? '1' : '0' };
      return more.answer?.(query) ?? replyOf(200, isThere ? [{ id: 'urn:t:1' }] : [], count);
    },
  });
  const { questionsMax = 9, variants } = more;
  const report = previewOf(scope, { matched: 0, sample: [] });
  const ended = await withHints(scope, report, PLAN, {
    resource,
    questionsMax,
    variants: variants === undefined ? [[]] : variants.map(parameter),
  });
  const lists = ended.hints?.some((hint) => hint.startsWith('no ')) === true ? 1 : 0;
  assert.equal(ended.requests, asked.length + lists);
  assert.equal(ended.retries, scope.requester.requestCounts.retries);
  if (more.retries !== undefined) assert.equal(ended.retries, more.retries);
  return { hints: ended.hints, asked };
}

it('the hints of a dry run suggest the name of the broker that may be meant, by its end if it is an IRI', async () => {
  for (const [list, hint] of [
    [['t', 'T2', 'other'], 'no t2 Did you mean T2?'],
    [['https://a.example/t2'], 'no t2 Did you mean https://a.example/t2?'],
    [['https://a.example/ns#other'], 'no t2'],
    [['t2', 'x'], 'no t2'],
    [[7, null], 'no t2'],
    ['T2', 'no t2 Did you mean T2?'],
    [undefined, 'no t2'],
  ] as const) {
    const names = (path: string) => {
      assert.equal(path, '/types');
      return replyOf(200, { typeList: list });
    };
    assert.deepEqual((await hintsOf(['t1', 't3'], { names })).hints, ['quoted', hint]);
  }
  const attributes = await hintsOf(['t1', 't2', 't3', 'a1', 'a3'], {
    names: () => replyOf(200, { attributeList: ['A2'] }),
  });
  assert.deepEqual(attributes.hints, ['quoted', 'no a2 Did you mean A2?']);
  for (const reply of [replyOf(500, 'down'), replyOf(403, {}), replyOf(200, 'gibberish'), replyOf(401, {})])
    assert.deepEqual((await hintsOf(['t1', 't3'], { names: () => reply })).hints, ['quoted', 'no t2']);
});

it('the hints of a dry run compare a name with a limited number of names of the broker', async () => {
  // The names of the plan have two letters, so a longer name is passed over without a comparison.
  const alike = Array.from(
    { length: 3000 },
    (_, at) => `${'pqr'[at % 3]}${String.fromCharCode(0x4e00 + at)}`,
  );
  const passedOver = Array.from({ length: 3000 }, (_, at) => `other-${at}`);
  const suggested = async (typeList: readonly string[]) =>
    (await hintsOf(['t1', 't3'], { names: () => replyOf(200, { typeList }) })).hints?.[1];
  assert.equal(await suggested([...passedOver, ...alike.slice(0, 1999), 'T2']), 'no t2 Did you mean T2?');
  assert.equal(await suggested([...alike, 'T2']), 'no t2');
});

it('the hints of a dry run send no more queries than allowed, types and attributes together', async () => {
  for (const [questionsMax, asked] of [
    [2, ['t1', 't2']],
    [3, ['t1', 't2', 't3']],
    [4, ['t1', 't2', 't3', 'a1']],
  ] as const) {
    assert.deepEqual((await hintsOf(['t1', 't2', 't3'], { questionsMax })).asked, asked);
  }
});

it('the hints of a dry run report a name as missing only if the broker has none of its variants', async () => {
  const variants = ['v1', 'v2'];
  const found = await hintsOf(['t1', 't2', 't3', 'a1', 'v2'], { variants, questionsMax: 3 });
  assert.deepEqual(found.hints, ['quoted']);
  assert.deepEqual(found.asked, ['t1 v1', 't2 v1', 't3 v1']);
  const late = await hintsOf(['v2'], { variants, questionsMax: 1 });
  assert.deepEqual([late.hints, late.asked], [['quoted'], ['t1 v1', 't1 v2']]);
  const missing = await hintsOf([], { variants, questionsMax: 1 });
  assert.deepEqual(
    [missing.hints, missing.asked],
    [
      ['quoted', 'no t1'],
      ['t1 v1', 't1 v2'],
    ],
  );
});

it('the hints of a dry run end if the purge is stopped', async () => {
  const answer = () => {
    throw new PurgeStoppedError('stopped');
  };
  await assert.rejects(hintsOf([], { answer }), PurgeStoppedError);
});
