import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import { instanceListsOf } from '../../../../sidecar/purge/temporal/instances.js';

type Entity = Readonly<Record<string, unknown>>;

const AT = '2026-01-01T00:00:00Z';
/** As parsed from a broker's JSON, where `__proto__` is an ordinary member. */
const parsed = (json: string) => JSON.parse(json) as Entity;
const read = (entity: Entity) => instanceListsOf(entity, 'observedAt');
const instancesOf = (attribute: unknown) =>
  read({ id: 'urn:a:1', attribute }).flatMap(({ instances }) => instances);
const digestOf = (instance: unknown) => instancesOf(instance)[0]?.digest;

it('the instances of a temporal evolution are read from arrays, and a single instance from a bare object', () => {
  const one = { type: 'Property', value: 1, observedAt: AT, instanceId: 'urn:i:1' };
  const two = { ...one, instanceId: 'urn:i:2', datasetId: 'urn:d:1' };
  const lists = read({ id: 'urn:a:1', type: 'Car', speed: [one, two], color: one, empty: [] });
  const found = lists.map(({ attribute, instances }) => [
    attribute,
    instances.map(({ instanceId, datasetId, time, digest }) => [instanceId, datasetId, time, digest]),
  ]);
  assert.deepEqual(found, [
    [
      'speed',
      [
        ['urn:i:1', '@none', AT, undefined],
        ['urn:i:2', 'urn:d:1', AT, undefined],
      ],
    ],
    ['color', [['urn:i:1', '@none', AT, undefined]]],
    ['empty', []],
  ]);
});

it('the instances of a temporal evolution are those of attributes only', () => {
  const members = ['id', 'type', '@context', 'scope', 'createdAt', 'modifiedAt', 'deletedAt', 'expiresAt'];
  assert.deepEqual(read(Object.fromEntries(members.map((name) => [name, 'x']))), []);
  assert.deepEqual(read({ '@id': 'urn:a:1', '@type': ['https://a.test/Car'], scope: [{ value: '/a' }] }), []);
});

it('the instances of a temporal evolution have exactly the requested time', () => {
  const instance = { observedAt: AT, createdAt: 'c', modifiedAt: 'm', deletedAt: 'd' };
  const times = (['observedAt', 'createdAt', 'modifiedAt', 'deletedAt'] as const).map(
    (property) => instanceListsOf({ a: instance }, property)[0]?.instances[0]?.time,
  );
  assert.deepEqual(times, [AT, 'c', 'm', 'd']);
  for (const observedAt of [undefined, null, 5, {}, [AT]]) {
    assert.equal(instancesOf({ observedAt })[0]?.time, undefined);
  }
});

it('the instances of a temporal evolution have an id, a dataset and their creation time only if these are strings', () => {
  for (const wrong of [undefined, null, '', 7, {}, ['urn:i:1']]) {
    const [instance] = instancesOf({ value: 1, instanceId: wrong, datasetId: wrong });
    assert.deepEqual([instance?.instanceId, instance?.datasetId], [undefined, '@none']);
    assert.match(instance?.digest ?? '', /^[\w-]{43}$/);
  }
  for (const createdAt of [undefined, null, 5, {}])
    assert.equal(instancesOf({ observedAt: AT, createdAt })[0]?.createdAt, undefined);
  assert.equal(instancesOf({ observedAt: AT, createdAt: 'c' })[0]?.createdAt, 'c');
});

it('the instances of a temporal evolution are refused if an attribute does not consist of instances', () => {
  for (const attribute of [5, 'text', true, null, [5], ['text'], [null], [{ value: 1 }, 5]]) {
    assert.throws(() => instancesOf(attribute), BrokerReplyError, JSON.stringify(attribute));
  }
});

it('the instances of a temporal evolution are read from attributes with names of Object.prototype', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const members = names.map((name) => `"${name}":[{"value":1,"instanceId":"urn:i:${name}"}]`);
  const lists = read(parsed(`{"id":"urn:a:1",${members.join()}}`));
  assert.deepEqual(
    lists.map(({ attribute, instances }) => [attribute, instances[0]?.instanceId]),
    names.map((name) => [name, `urn:i:${name}`]),
  );
  const [hostile] = read(parsed('{"a":{"__proto__":{"instanceId":"urn:i:1","observedAt":"x"}}}'));
  assert.deepEqual([hostile?.instances[0]?.instanceId, hostile?.instances[0]?.time], [undefined, undefined]);
});

it('the instances of a temporal evolution are read or refused with BrokerReplyError, whatever the broker shows', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, name) => {
      try {
        for (const { instances } of read({ [name]: value })) {
          for (const { instanceId, digest } of instances)
            assert.ok((instanceId === undefined) !== (digest === undefined));
        }
      } catch (error) {
        assert.ok(error instanceof BrokerReplyError, String(error));
      }
    }),
  );
});

it('the digest of an instance without an id ignores the times that are not always requested', () => {
  const instance = { type: 'Property', value: 1, observedAt: AT };
  for (const times of [{ createdAt: AT }, { modifiedAt: AT }, { createdAt: AT, modifiedAt: AT }])
    assert.equal(digestOf({ ...instance, ...times }), digestOf(instance), JSON.stringify(times));
});

it('the digest of an instance without an id depends on everything else', () => {
  const instances = [
    { value: 1, observedAt: AT },
    { value: 1, observedAt: '2026-01-01T00:00:01Z' },
    { value: 1 },
    { value: 2, observedAt: AT },
    { value: '1', observedAt: AT },
    { value: 1, observedAt: AT, datasetId: 'urn:d:1' },
    { value: 1, observedAt: AT, unitCode: 'KMH' },
    { value: { deep: 1 }, observedAt: AT },
    { value: { deep: 2 }, observedAt: AT },
    { object: 'urn:a:1', observedAt: AT },
  ];
  assert.equal(new Set(instances.map(digestOf)).size, instances.length);
});
