import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  formatParameters,
  parseParameters,
  ENTITY_PARAMETERS,
  TEMPORAL_PARAMETERS,
  TIME_PARAMETERS,
} from '../../../../sidecar/purge/query/index.js';
import { SELECTION_PARAMETERS } from '../../../../sidecar/purge/query/parameters.js';
import { assertRefused } from '../refusals.js';
import { words } from '../../../support/words.js';

const refused = (query: string, parameter: string) =>
  assertRefused(() => parseParameters(query, ENTITY_PARAMETERS), 'invalidRequest', parameter);

it('parseParameters accepts every selecting parameter of Query Entities, drop and keep, and the extensions', () => {
  const names = words(`
      type id idPattern attrs q georel geometry coordinates geoproperty geometryProperty scopeQ csf
      expandValues jsonKeys local drop keep dryRun maxAffected maxPerSecond archive record
    `);
  assert.deepEqual([...ENTITY_PARAMETERS.names].sort(), names.sort());
  const query = names.map((name) => `${name}=v`).join('&');
  assert.deepEqual([...parseParameters(query, ENTITY_PARAMETERS).keys()], names);
  assert.equal(parseParameters('', ENTITY_PARAMETERS).size, 0);
});

it('parseParameters accepts every selecting parameter of the temporal query, and the extensions, for a temporal purge', () => {
  const extensions = words('datasetId dryRun maxAffected maxPerSecond archive record');
  const names = [...SELECTION_PARAMETERS, ...TIME_PARAMETERS, ...extensions];
  assert.deepEqual([...TEMPORAL_PARAMETERS.names].sort(), names.sort());
  const query = names.map((name) => `${name}=v`).join('&');
  assert.deepEqual([...parseParameters(query, TEMPORAL_PARAMETERS).keys()], names);
});

it('parseParameters gives a reason for every query parameter that a purge does not accept', () => {
  const output = ['limit', 'offset', 'count', 'pick', 'omit', 'options', 'format', 'lastN'];
  for (const [accepted, names] of [
    [ENTITY_PARAMETERS, [...output, 'datasetId', ...TIME_PARAMETERS]],
    [TEMPORAL_PARAMETERS, [...output, 'aggrMethods', 'aggrPeriodDuration', 'drop', 'keep']],
  ] as const) {
    assert.deepEqual(Object.keys(accepted.reasons).sort(), [...names].sort());
    assert.ok(names.every((name) => !accepted.names.has(name)));
    for (const name of names) {
      const query = `type=Car&${name}=x`;
      const { message } = assertRefused(() => parseParameters(query, accepted), 'invalidRequest', name);
      assert.ok(message.endsWith(`purge: ${accepted.reasons[name] ?? ''}.`), message);
    }
  }
});

it('parseParameters refuses unknown parameters by name', () => {
  for (const name of words(`
      foo entity entityMap lang join orderBy constructor __proto__ toString
    `)) {
    const { message } = refused(`type=Car&${name}=1`, name);
    assert.ok(message.includes(name) && message.includes('widen'), message);
  }
});

it('parseParameters refuses parameters of paging and output, and says what to use instead', () => {
  for (const [name, hint] of Object.entries({
    limit: 'maxAffected',
    offset: 'every match',
    count: 'dryRun=true',
    pick: 'drop or keep',
    omit: 'drop or keep',
    options: 'only shapes the output',
    format: 'only shapes the output',
    lastN: 'only shapes the output',
    datasetId: 'temporal',
  })) {
    assert.ok(refused(`type=Car&${name}=1`, name).message.includes(hint), name);
  }
});

it('parseParameters refuses a known name in the wrong case, and suggests the right one', () => {
  for (const [wrong, right] of [
    ['idpattern', 'idPattern'],
    ['Type', 'type'],
    ['scopeq', 'scopeQ'],
    ['dryrun', 'dryRun'],
    ['Q', 'q'],
    ['maxaffected', 'maxAffected'],
  ] as const) {
    assert.ok(refused(`${wrong}=x`, wrong).message.includes(`; use ${right}`));
  }
});

it('parseParameters refuses a repeated parameter, even with the same value or percent-encoded', () => {
  refused('type=Car&type=Bus', 'type');
  refused('type=Car&type=Car', 'type');
  refused('type=Car&q=speed&t%79pe=Bus', 'type');
});

it('parseParameters refuses a parameter without a value', () => {
  for (const query of ['q=', 'q', 'q=%20', 'q=+', 'q=%C2%A0', 'type=Car&q=']) refused(query, 'q');
});

it('parseParameters refuses a parameter without a name', () => {
  for (const query of ['&', '=', '=x', 'type=Car&', '&type=Car', 'type=Car&&q=speed']) refused(query, '');
});

it('parseParameters refuses text that cannot be decoded', () => {
  for (const value of ['%', '%2', '%zz', '%FF', '%C3', '%ED%A0%80', 'a%']) refused(`q=${value}`, 'q');
  assertRefused(() => parseParameters('%FF=1', ENTITY_PARAMETERS), 'invalidRequest', '%FF=1');
});

it('parseParameters refuses raw bytes that must be percent-encoded, because they would arrive as another text', () => {
  for (const value of ['Caf\u00c3\u00a9', 'a b', '\u{1f697}', 'a\tb']) refused(`type=${value}`, 'type');
});

it('parseParameters refuses control characters in a value', () => {
  for (const code of ['%00', '%0A', '%0d', '%1f', '%7F']) refused(`q=speed${code}`, 'q');
});

it('parseParameters decodes percent signs and plus signs once, as in forms', () => {
  assert.equal(parseParameters('q=a%3D%3D%22x+y%22', ENTITY_PARAMETERS).get('q'), 'a=="x y"');
  assert.equal(parseParameters('q=a%3D%3D%22+x+y++z%22', ENTITY_PARAMETERS).get('q'), 'a==" x y  z"');
  assert.equal(parseParameters('q=a%2Bb', ENTITY_PARAMETERS).get('q'), 'a+b');
  assert.equal(parseParameters('q=%2541', ENTITY_PARAMETERS).get('q'), '%41');
  assert.equal(parseParameters('q=caf%C3%A9', ENTITY_PARAMETERS).get('q'), 'café');
  assert.equal(parseParameters('q=a=b=c', ENTITY_PARAMETERS).get('q'), 'a=b=c');
  assert.equal(parseParameters('t%79pe=Car', ENTITY_PARAMETERS).get('type'), 'Car');
});

it('parseParameters quotes only a part of an overlong name', () => {
  const { message } = refused(`${'x'.repeat(9000)}=1`, 'x'.repeat(100));
  assert.ok(message.length < 300);
});

it('formatParameters encodes everything that could end or change a query', () => {
  const formatted = formatParameters([
    { name: 'type', value: 'https://a.test/ns#Car' },
    { name: 'q', value: 'n=="a b&c+d";m>1%|x' },
  ]);
  assert.equal(formatted, 'type=https://a.test/ns%23Car&q=n%3D%3D%22a%20b%26c%2Bd%22%3Bm%3E1%25%7Cx');
});

it('parseParameters restores the values that formatParameters has written, whatever they are', () => {
  const characters = fc.constantFrom(...Array.from(' aé\u00a0\u2028\ufeffж語🚗%+&=#;'));
  const texts = fc.oneof(fc.string({ unit: characters }), fc.string(), fc.stringMatching(/^[%+&=#;,:/?]+$/));
  const values = texts.filter((text) => text.trim() !== '' && !/[\u0000-\u001f\u007f]/.test(text));
  const names = fc.uniqueArray(fc.constantFrom(...SELECTION_PARAMETERS, ...ENTITY_PARAMETERS.names), {
    minLength: 1,
  });
  const parameters = names.chain((chosen) =>
    fc.tuple(...chosen.map((name) => values.map((value) => ({ name, value })))),
  );
  fc.assert(
    fc.property(parameters, (given) => {
      const query = formatParameters(given);
      assert.match(query, /^[!-~]+$/);
      assert.deepEqual(
        [...parseParameters(query, ENTITY_PARAMETERS)],
        given.map(({ name, value }) => [name, value]),
      );
    }),
  );
});
