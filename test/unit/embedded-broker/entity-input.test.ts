import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readEntity } from '../../../sidecar/embedded-broker/entity-input.js';
import { Refusal } from '../../../sidecar/embedded-broker/refusal.js';
import { represent } from '../../../sidecar/embedded-broker/representation.js';
import { stored } from './entities.js';

const normalized = (input: object) =>
  represent(stored(input), { format: 'normalized', sysAttrs: false, pick: new Set(Object.keys(input)) });
const simplified = (input: object) =>
  represent(stored(input), { format: 'simplified', sysAttrs: false, pick: new Set(Object.keys(input)) });

it('concise attributes become normalized ones', () => {
  const point = { type: 'Point', coordinates: [1, 2] };
  assert.deepEqual(
    normalized({
      a: 5,
      b: { value: 5, accuracy: 0.5 },
      c: { object: 'urn:x:1' },
      d: point,
      e: { value: point },
      f: { languageMap: { en: 'x' } },
      g: [1, 2],
      h: { json: null },
    }),
    {
      a: { type: 'Property', value: 5 },
      b: { type: 'Property', value: 5, accuracy: { type: 'Property', value: 0.5 } },
      c: { type: 'Relationship', object: 'urn:x:1' },
      d: { type: 'GeoProperty', value: point },
      e: { type: 'GeoProperty', value: point },
      f: { type: 'LanguageProperty', languageMap: { en: 'x' } },
      g: { type: 'Property', value: [1, 2] },
      h: { type: 'JsonProperty', json: null },
    },
  );
});

it('members of an attribute that only the broker sets are ignored, also in sub-attributes', () => {
  const own = { createdAt: 1, modifiedAt: [], deletedAt: 'x', instanceId: {}, '@context': 'y' };
  for (const [name, value] of Object.entries(own)) {
    const b = { value: 5, unitCode: 'KMH', more: { value: 6, [name]: value }, [name]: value };
    const more = { type: 'Property', value: 6 };
    assert.deepEqual(normalized({ b }), { b: { type: 'Property', value: 5, unitCode: 'KMH', more } }, name);
  }
});

it('the simplified form shows values, and datasets under their own ids', () => {
  const b = [{ value: 1 }, { value: 2, datasetId: 'urn:ds:2' }];
  assert.deepEqual(simplified({ a: { value: 1 }, b, c: { object: 'urn:x:1' }, d: { vocab: 'V' } }), {
    a: 1,
    b: { dataset: { '@none': 1, 'urn:ds:2': 2 } },
    c: 'urn:x:1',
    d: { vocab: 'V' },
  });
});

it('IRIs of the default context become short names', () => {
  const base = 'https://uri.etsi.org/ngsi-ld/default-context/';
  const entity = readEntity(
    { id: 'urn:x:1', type: `${base}Car`, [`${base}speed`]: 1, 'https://a.example/x': 2 },
    0,
  );
  assert.deepEqual(entity.types, ['Car']);
  assert.deepEqual(
    entity.attributes.map(({ name }) => name),
    ['speed', 'https://a.example/x'],
  );
});

it('invalid entities are refused with BadRequestData', () => {
  const good = { id: 'urn:x:1', type: 'T' };
  const wrong: readonly unknown[] = [
      null, [], 'x', {}, { id: 'urn:x:1' }, { ...good, id: 'no uri' }, { ...good, id: 5 }, { ...good, type: [] },
      { ...good, type: 'a b' }, { ...good, a: null }, { ...good, a: {} }, { ...good, a: { type: 'Nonsense', value: 1 } },
      { ...good, a: { type: 'Property' } }, { ...good, a: { value: null } }, { ...good, a: { object: 'no uri' } },
      { ...good, a: { value: 1, observedAt: 'yesterday' } }, { ...good, a: { value: 1, unitCode: 5 } },
      { ...good, a: { value: 1, datasetId: 'x' } }, { ...good, a: [{ value: 1 }, { value: 2 }] },
      { ...good, a: { type: 'GeoProperty', value: 1 } }, { ...good, a: { type: 'Point', coordinates: [1] } },
      { ...good, 'a b': 1 }, { ...good, 'a"': 1 }, { ...good, scope: 'a b' }, { ...good, scope: 5 },
    ]; // oxfmt-ignore
  for (const input of wrong) {
    assert.throws(
      () => readEntity(input, 0),
      (error) => error instanceof Refusal && error.problem.status === 400,
      JSON.stringify(input),
    );
  }
  let deep: unknown = { value: 1 };
  for (let level = 0; level < 100; level += 1) deep = { value: 1, sub: deep };
  assert.throws(() => readEntity({ ...good, a: deep }, 0), Refusal);
});

it('any JSON is either read or refused, without changing a prototype', () => {
  const names = fc.constantFrom(
    'id',
    'type',
    'a',
    'value',
    'object',
    '__proto__',
    'constructor',
    'toString',
    'scope',
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom<unknown>('Property', 'urn:x:1', 'Point', null, 1, true),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.array(fc.tuple(names, tie('tree')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
    ),
  }));
  fc.assert(
    fc.property(fc.array(fc.tuple(names, tree), { maxLength: 4 }), (members) => {
      const input = Object.fromEntries<unknown>([...members, ['id', 'urn:x:1'], ['type', 'T']]);
      try {
        const attributes = Object.fromEntries(members.filter(([name]) => name !== 'id' && name !== 'type'));
        represent(stored(attributes), { format: 'normalized', sysAttrs: true, pick: undefined });
        readEntity(input, 0);
      } catch (error) {
        assert.ok(error instanceof Refusal);
      }
      assert.deepEqual(Object.keys(Object.prototype), []);
    }),
  );
});
