import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planHints } from '../../../sidecar/purge/hints.js';
import { formatParameters } from '../../../sidecar/purge/query/parameters.js';
import { parseEntityPurgeQuery } from '../../../sidecar/purge/query/query.js';
import { queryOf } from './refusals.js';

function planOf(given: Readonly<Record<string, string>>, dropped: readonly string[] = []) {
  const { hints, types, attributes } = planHints(
    parseEntityPurgeQuery(queryOf({ maxAffected: '1', ...given })).selection,
    dropped,
  );
  const shown = (list: typeof types) =>
    list.map(({ selection, hint }) => [decodeURIComponent(formatParameters(selection)), hint]);
  return { hints, types: shown(types), attributes: shown(attributes) };
}

describe('hints on a query that matches nothing', () => {
  it('ask for each type alone', () => {
    assert.deepEqual(planOf({ type: 'Car,(Bus;Tram)', id: 'urn:a:1', idPattern: 'x' }).types, [
      ['type=Car', 'No entity of type Car is listed.'],
      ['type=Bus', 'No entity of type Bus is listed.'],
      ['type=Tram', 'No entity of type Tram is listed.'],
    ]);
    assert.deepEqual(planOf({ type: '*' }).types, []);
    assert.deepEqual(planOf({ q: 'speed' }).types, []);
  });

  it('ask for each attribute that the query demands, as the query does, beside the type', () => {
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
    assert.deepEqual(planOf({ q: 'speed>1' }).attributes, [
      ['q=speed', 'No entity has the attribute speed.'],
    ]);
  });

  it('ask for the attributes that are to be dropped', () => {
    assert.deepEqual(planOf({ type: 'Car' }, ['speed']).attributes, [
      ['type=Car&attrs=speed', 'No entity of type Car has the attribute speed.'],
    ]);
  });

  it('stay with local entities where the query does', () => {
    const { types, attributes } = planOf({ type: 'Car', local: 'true', q: 'speed' });
    assert.deepEqual(
      [types[0]?.[0], attributes[0]?.[0]],
      ['type=Car&local=true', 'type=Car&local=true&q=speed'],
    );
  });

  it('name each time in quotes that q compares with, however it does', () => {
    for (const [q, path] of [
      ['speed.observedAt<"2026-01-01T00:00:00Z"', 'speed.observedAt'],
      ['a;(b|c>="2026-01-01")', 'c'],
      ['a=="12:00:00Z"', 'a'],
      ['a!="x","2026-01-01T00:00:00.5+01:00"', 'a'],
      ['a=="2026-01-01".."2027-01-01"', 'a'],
    ] as const) {
      const { hints } = planOf({ q: `z;${q}` });
      assert.ok(hints.length > 0, q);
      assert.ok(
        hints.every(
          (hint) => hint.startsWith(`q compares ${path} with "`) && hint.includes('without quotes'),
        ),
      );
    }
    for (const q of [
      'speed.observedAt<2026-01-01T00:00:00Z',
      'a=="x"',
      'a=="2026"',
      'a=="2026-13-01"',
      'a~="2026-01-01"',
      'a==2026-01-01..2027-01-01',
      'a',
    ]) {
      assert.deepEqual(planOf({ q }).hints, [], q);
    }
  });
});
