import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { CliError } from '../../../sidecar/cli/exit-codes.js';
import { encode, encodeQuery, valuesIn } from '../../../sidecar/cli/query-text.js';
import { ENTITY_PARAMETERS } from '../../../sidecar/purge/index.js';
import { parseParameters } from '../../../sidecar/purge/query/index.js';

it('a query on the command line may have unencoded characters', () => {
  for (const [written, sent] of [
    ['type=A&q=speed<600', 'type=A&q=speed%3C600'],
    ['?type=A', 'type=A'],
    ['type=A&', 'type=A'],
    ['q=name=="a b"', 'q=name%3D%3D%22a%20b%22'],
    ['q=name=="München"', 'q=name%3D%3D%22M%C3%BCnchen%22'],
    ['id=urn:a:1,urn:a:2', 'id=urn:a:1,urn:a:2'],
    ['timeAt=2026-01-01T00:00:00+01:00', 'timeAt=2026-01-01T00:00:00%2B01:00'],
    ['q=rate>50%', 'q=rate%3E50%25'],
    ['coordinates=[13.4,52.5]', 'coordinates=%5B13.4,52.5%5D'],
  ] as const) {
    assert.equal(encodeQuery([written]), sent);
  }
});

it('a query on the command line keeps existing percent-encoding', () => {
  assert.equal(encodeQuery(['q=speed%3c600%26a']), 'q=speed%3c600%26a');
});

it('a query on the command line may be split into several arguments', () => {
  assert.equal(encodeQuery(['type=A', 'q=a<1', '']), 'type=A&q=a%3C1');
});

it('a query on the command line reaches the gateway exactly as written', () => {
  const text = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter(
      (value) => !/[&%\u0000-\u001f\u007f]/.test(value) && value.trim() !== '' && value === value.trim(),
    );
  fc.assert(
    fc.property(text, (value) => {
      const parsed = parseParameters(encodeQuery([`q=${value}`]), ENTITY_PARAMETERS);
      assert.equal(parsed.get('q'), value);
    }),
  );
  fc.assert(fc.property(text, (value) => assert.equal(encode(encode(value)), encode(value))));
});

it('a query on the command line refuses bounds and dry runs, which have their own options', () => {
  for (const pair of ['dryRun=true', 'maxAffected=5', 'maxPerSecond=1', '%64ryRun=true', 'max%41ffected=5'])
    assert.throws(() => encodeQuery([`type=A&${pair}`]), CliError);
});

it('a parameter named like a property of every object is an ordinary parameter', () => {
  assert.equal(encodeQuery(['type=A', 'constructor=1', '__proto__=2']), 'type=A&constructor=1&__proto__=2');
});

it('a parameter is found by its decoded name, and returned with its whole value', () => {
  const query = `${encodeQuery(['type=A', '%72ecord=ids'])}&q=a==b&%zz=1`;
  assert.deepEqual(valuesIn(query, 'record'), ['ids']);
  assert.deepEqual(valuesIn(query, 'q'), ['a==b']);
  assert.deepEqual(valuesIn(query, 'drop'), []);
});

it('a query on the command line is refused if it is not valid text', () => {
  assert.throws(() => encodeQuery(['q=\ud800']), { exitCode: 2 });
});
