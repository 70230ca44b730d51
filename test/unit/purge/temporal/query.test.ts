import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/index.js';
import { queryOf, assertRefused } from '../refusals.js';
import { PolicyRefusedError } from '../../../../sidecar/purge/errors.js';
import { words } from '../../../support/words.js';

const SINCE = { timerel: 'after', timeAt: '2026-01-01T00:00:00Z' };
const parse = (given: Readonly<Record<string, string>>) => parseTemporalPurgeQuery(queryOf(given));
const selectionOf = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(parse(given).selection.map(({ name, value }) => [name, value]));

const INSTANCES = { kind: 'instances', time: { property: 'observedAt', from: SINCE.timeAt, to: undefined } };
for (const [what, target, ...queries] of [
  [
    'the whole temporal entity without a time filter, attrs and datasetId',
    { kind: 'entities' },
    'type=Car',
    'q=speed>1',
    'type=Car&id=urn:a:1',
    'local=true&maxAffected=1',
  ],
  ['attributes with attrs alone', { kind: 'attributes' }, 'type=Car&attrs=speed,https://a.test/n%23x'],
  [
    'datasets of the named attributes with attrs and datasetId',
    { kind: 'datasets', datasetIds: ['urn:d:1', '@none'] },
    'attrs=speed&datasetId=urn:d:1,@none',
  ],
  [
    'datasets of every attribute shown with datasetId alone, never the entity',
    { kind: 'datasets', datasetIds: ['@none'] },
    'type=Car&datasetId=@none',
  ],
  [
    'instances with a time filter, whatever else is given',
    INSTANCES,
    ...['', '&attrs=speed', '&datasetId=urn:d:1', '&attrs=speed&datasetId=@none'].map(
      (more) => `type=Car&timerel=after&timeAt=${SINCE.timeAt}${more}`,
    ),
  ],
] as const)
  it(`a temporal purge deletes ${what}`, () => {
    for (const query of queries) assert.deepEqual(parseTemporalPurgeQuery(query).target, target, query);
  });

it('a temporal purge keeps the names of attributes and datasets that its query has, and no others', () => {
  for (const [query, attributes, datasetIds] of [
    ['type=Car&attrs=speed,https://a.test/n%23x', ['speed', 'https://a.test/n#x'], undefined],
    ['attrs=speed&datasetId=urn:d:1,@none', ['speed'], ['urn:d:1', '@none']],
    ['type=Car&datasetId=@none', undefined, ['@none']],
  ] as const) {
    const parsed = parseTemporalPurgeQuery(query);
    assert.deepEqual([parsed.attributes, parsed.datasetIds], [attributes, datasetIds], query);
  }
});

it('a temporal purge with a time filter deletes instances after a time, before one, or between two', () => {
  const [timeAt, endTimeAt] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
  for (const [filter, property, from, to] of [
    [{ timerel: 'after', timeAt }, 'observedAt', timeAt, undefined],
    [{ timerel: 'before', timeAt }, 'observedAt', undefined, timeAt],
    [{ timerel: 'between', timeAt, endTimeAt }, 'observedAt', timeAt, endTimeAt],
    [{ timerel: 'before', timeAt, timeproperty: 'createdAt' }, 'createdAt', undefined, timeAt],
    [{ timerel: 'before', timeAt, timeproperty: 'modifiedAt' }, 'modifiedAt', undefined, timeAt],
    [{ timerel: 'before', timeAt, timeproperty: 'deletedAt' }, 'deletedAt', undefined, timeAt],
    [{ timerel: 'before', timeAt, timeproperty: 'observedAt' }, 'observedAt', undefined, timeAt],
  ] as const) {
    assert.deepEqual(parse({ type: 'Car', ...filter }).target, {
      kind: 'instances',
      time: { property, from, to },
    });
  }
});

it('a temporal purge sends every filter unchanged, and no extension', () => {
  const given = {
    type: 'Car',
    id: 'urn:a:1',
    idPattern: '^urn',
    attrs: 'speed',
    q: 'speed>1',
    scopeQ: '/a',
    georel: 'within',
    geometry: 'Point',
    coordinates: '[1,2]',
    geoproperty: 'place',
    local: 'true',
    timerel: 'between',
    timeAt: '2026-01-01T00:00:00.5Z',
    endTimeAt: '2026-02-01T00:00:00Z',
    datasetId: 'urn:d:2,urn:d:1',
    timeproperty: 'createdAt',
  };
  assert.deepEqual(selectionOf({ ...given, dryRun: 'true', maxAffected: '9' }), given);
});

it('a temporal purge names the time property unless it is the default, because some brokers support no other', () => {
  assert.deepEqual(selectionOf({ type: 'Car', ...SINCE }), { type: 'Car', ...SINCE });
  assert.deepEqual(selectionOf({ type: 'Car', ...SINCE, timeproperty: 'observedAt' }), {
    type: 'Car',
    ...SINCE,
  });
  assert.equal(
    selectionOf({ type: 'Car', ...SINCE, timeproperty: 'createdAt' })['timeproperty'],
    'createdAt',
  );
});

it('a temporal purge names each dataset once, up to a hundred', () => {
  assert.deepEqual(parse({ type: 'Car', datasetId: 'urn:d:1,urn:d:1' }).datasetIds, ['urn:d:1']);
  const hundred = Array.from({ length: 100 }, (_, index) => `urn:d:${index}`);
  assert.deepEqual(parse({ type: 'Car', datasetId: hundred.join(',') }).datasetIds, hundred);
});

const AT = '2026-01-01T00:00:00Z';
const LATER = '2026-02-01T00:00:00Z';

const refusedRaw = (query: string, kind: 'invalidRequest' | 'badRequestData', parameter?: string) =>
  assertRefused(() => parseTemporalPurgeQuery(query), kind, parameter);
const badData = (given: Readonly<Record<string, string>>, parameter?: string) =>
  refusedRaw(queryOf({ type: 'Car', ...given }), 'badRequestData', parameter);
const accepted = (given: Readonly<Record<string, string>>) => parseTemporalPurgeQuery(queryOf(given));

const HINTS: Readonly<Record<string, readonly [value: string, hint: RegExp]>> = {
  lastN: ['5', /newest instances.*timerel=before/],
  aggrMethods: ['avg', /aggregation/],
  aggrPeriodDuration: ['PT1H', /aggregation/],
  options: ['temporalValues', /name no instances/],
  format: ['aggregatedValues', /name no instances/],
  pick: ['speed', /use attrs/],
  omit: ['speed', /use attrs/],
  drop: ['speed', /use attrs/],
  keep: ['speed', /use attrs/],
  limit: ['10', /maxAffected/],
  offset: ['10', /every match/],
  count: ['true', /dryRun=true/],
};
for (const [name, [value, hint]] of Object.entries(HINTS)) {
  it(`a temporal purge refuses parameters of output and paging: ${name}, and says what to use instead`, () => {
    for (const query of [
      `type=Car&${name}=${value}`,
      `${name}=${value}&type=Car&timerel=before&timeAt=${AT}`,
    ]) {
      assert.match(refusedRaw(query, 'invalidRequest', name).message, hint);
    }
  });
}

it('a temporal purge refuses unknown parameters, and suggests the right case of known ones', () => {
  for (const name of ['foo', 'lang', 'splitEntities', 'entityMap', 'orderBy', '__proto__', 'constructor']) {
    assert.match(refusedRaw(`type=Car&${name}=1`, 'invalidRequest', name).message, /widen/);
  }
  for (const [wrong, right] of [
    ['timeRel', 'timerel'],
    ['timeat', 'timeAt'],
    ['endtimeat', 'endTimeAt'],
    ['timeProperty', 'timeproperty'],
    ['datasetid', 'datasetId'],
  ] as const) {
    const { message } = refusedRaw(`type=Car&${wrong}=x`, 'invalidRequest', wrong);
    assert.ok(message.includes(`; use ${right}`), message);
  }
});

it('a temporal purge of a whole tenant needs a maximum, whatever parts it names, unless it has a time filter', () => {
  for (const part of ['', '&datasetId=@none', '&datasetId=urn:d:1']) {
    assert.match(refusedRaw(`local=true${part}`, 'invalidRequest', 'maxAffected').message, /maxAffected/);
    assert.throws(
      () => parseTemporalPurgeQuery(`local=true${part}&maxAffected=5`, 'refuse'),
      PolicyRefusedError,
    );
    parseTemporalPurgeQuery(`local=true${part}&maxAffected=5`);
    parseTemporalPurgeQuery(`local=true${part}&timerel=before&timeAt=${AT}`, 'refuse');
  }
});

for (const [what, filters, parameter, says] of [
  [
    'with another relation than before, after and between',
    ['After', 'until', 'before,after', 'toString'].map((timerel) => ({ timerel, timeAt: AT })),
    ...(['timerel', /before, after or between/] as const),
  ],
  [
    'by a property other than the four times of an instance',
    words('observedat timestamp expiresAt constructor createdAt,modifiedAt').map((timeproperty) => ({
      timerel: 'before',
      timeAt: AT,
      timeproperty,
    })),
    ...(['timeproperty', /must be one of/] as const),
  ],
  [
    'without timeAt',
    [
      ...['before', 'after', 'between'].map((timerel) => ({ timerel })),
      { timerel: 'between', endTimeAt: LATER },
    ],
    ...(['timeAt', /timeAt=2/] as const),
  ],
  ['with between and no end', [{ timerel: 'between', timeAt: AT }], 'endTimeAt', /endTimeAt as well/],
  [
    'with an end that before and after do not have',
    ['before', 'after'].map((timerel) => ({ timerel, timeAt: AT, endTimeAt: LATER })),
    ...(['endTimeAt', /timerel=between/] as const),
  ],
  ['of a time without timerel', [{ timeAt: AT }], 'timeAt', /timerel/],
  ['of an end without timerel', [{ endTimeAt: LATER }], 'endTimeAt', /timerel/],
  ['of a property without timerel', [{ timeproperty: 'createdAt' }], 'timeproperty', /timerel/],
] as const)
  it(`a temporal purge refuses a time filter ${what}`, () => {
    for (const given of filters) assert.match(badData(given, parameter).message, says);
  });

it('a temporal purge refuses a time filter that ends no later than it begins, comparing moments and not notations', () => {
  for (const [timeAt, endTimeAt] of [
    [AT, AT],
    [LATER, AT],
    ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:30:00+01:00'],
  ] as const) {
    badData({ timerel: 'between', timeAt, endTimeAt }, 'endTimeAt');
  }
  accepted({
    type: 'Car',
    timerel: 'between',
    timeAt: '2026-01-01T01:00:00+01:00',
    endTimeAt: '2026-01-01T00:00:01Z',
  });
});

const inEach = (text: string) => [
  badData({ timerel: 'before', timeAt: text }, 'timeAt'),
  badData({ timerel: 'between', timeAt: AT, endTimeAt: text }, 'endTimeAt'),
];

it('a temporal purge refuses a time that cannot be read, that is a day or a time of day, or that has no zone', () => {
  for (const text of [
    ...words(`
      yesterday now 0 1767225600 2026-13-01T00:00:00Z 2026-02-30T00:00:00Z 2026-01-01T24:00:01Z
      2026-01-01T00:60:00Z 20260101T000000Z 2026-01-01T00:00:00+99:00 2026-01-01T00:00:00+0100
      2026-01-01T00:00Z 2026-01-01 00:00:00Z 2026-01 2026-01-01T00:00:00 2026-01-01T00:00:00.123
    `),
    '2026-01-01 00:00:00Z',
    `${AT} `,
  ])
    for (const { message } of inEach(text)) assert.match(message, /with a zone/);
});

it('a temporal purge refuses a time whose plus sign was not percent-encoded, and explains how to write it', () => {
  for (const name of ['timeAt', 'endTimeAt']) {
    const times = { timeAt: AT, endTimeAt: LATER, [name]: '2026-03-01T00:00:00+01:00' };
    const query = `type=Car&timerel=between&timeAt=${times.timeAt}&endTimeAt=${times.endTimeAt}`;
    assert.match(refusedRaw(query, 'badRequestData', name).message, /%2B/);
  }
  const { message } = badData({ timerel: 'before', timeAt: '2026-01-01' }, 'timeAt');
  assert.doesNotMatch(message, /%2B/);
});

it('a temporal purge sends the same moments to the broker, in UTC if that loses nothing', () => {
  for (const [timeAt, sent] of [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.5Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456789Z'],
    ['2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00.000Z'],
    ['2025-12-31T12:30:00.25-11:30', '2026-01-01T00:00:00.250Z'],
    ['2026-01-01T01:00:00.123456+01:00', '2026-01-01T01:00:00.123456+01:00'],
  ] as const) {
    const { target } = accepted({ type: 'Car', timerel: 'before', timeAt });
    assert.ok(target.kind === 'instances');
    assert.equal(target.time.to, sent);
  }
});

const TIME = { timerel: 'before', timeAt: AT };

it('a temporal purge by a time filter, a dataset or an id alone is too wide, and refused', () => {
  const NARROW = { ...TIME, datasetId: 'urn:d:1', id: 'urn:a:1', idPattern: '^urn:a:', scopeQ: '/a' };
  refusedRaw('', 'badRequestData');
  for (const given of [
    {},
    TIME,
    { datasetId: 'urn:d:1' },
    NARROW,
    { q: 'modifiedAt<2020-01-01T00:00:00Z' },
  ]) {
    assert.match(refusedRaw(queryOf(given), 'badRequestData').message, /type, attrs, q/);
  }
});

it('a temporal purge of all types is accepted with a time filter', () => {
  for (const all of [{ type: '*' }, { local: 'true' }]) {
    assert.equal(accepted({ ...all, ...TIME }).target.kind, 'instances');
    assert.equal(accepted({ ...all, ...TIME, maxAffected: '5' }).maxAffected, 5);
  }
});

it('a temporal purge refuses attrs that name members other than attributes', () => {
  const CORE = 'https://uri.etsi.org/ngsi-ld/';
  for (const name of words(`id type @id @type @context scope createdAt modifiedAt ${CORE}createdAt`)) {
    for (const attrs of [name, `speed,${name}`, `${name},speed`]) {
      badData({ attrs }, 'attrs');
      badData({ attrs, ...TIME }, 'attrs');
    }
  }
  // Alone, it does not restrict the purge either.
  refusedRaw('attrs=createdAt', 'badRequestData');
});

it('a temporal purge refuses a datasetId that is not a URI', () => {
  for (const datasetId of words(`
      urn:{d} urn:d|e fast @all @NONE 1:2 :x urn: urn:d:1,fast none *
    `)) {
    assert.match(badData({ datasetId }, 'datasetId').message, /must be a URI.*@none/);
  }
});

it('a temporal purge refuses more than a hundred datasets', () => {
  const datasetId = Array.from({ length: 101 }, (_, index) => `urn:d:${index}`).join(',');
  assert.match(badData({ datasetId }, 'datasetId').message, /at most 100/);
  const twice = datasetId.replace('urn:d:100', 'urn:d:0');
  assert.equal(accepted({ type: 'Car', datasetId: twice }).datasetIds?.length, 100);
});

it('the refusal of a datasetId by a temporal purge quotes only the beginning of a long one', () => {
  const { message } = badData({ datasetId: 'x'.repeat(5000) }, 'datasetId');
  assert.ok(message.includes('x'.repeat(100)) && message.length < 500, String(message.length));
});
