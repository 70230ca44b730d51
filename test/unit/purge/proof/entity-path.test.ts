import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import { attributePath, entityPath, safePathOf } from '../../../../sidecar/purge/proof/index.js';
import { ReplyTooLargeError, type BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { words } from '../../../support/words.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { unicodeText } from '../../../support/unicode-text.js';

const ID = 'urn:ngsi-ld:Car:1';
const CAR = '/temporal/entities/urn%3Angsi-ld%3ACar%3A1';
const instancePath = (attribute: string, instanceId: string) =>
  attributePath('/temporal/entities', ID, attribute, instanceId);

/** The entity that a server finds in a path that it splits before it decodes (RFC 3986 § 2.4). */
const segmentsOf = (path: string) => path.split('/').map(decodeURIComponent);

/** Names that lead to the collection, to an attribute or nowhere, in one reading or another. */
const HOSTILE = [
  ...words(`
    .. . / // * ? # % urn:x/.. urn:x/../.. ../x ..\\x urn:x%2F.. urn:x%252F.. %2e%2e %252e%252e urn:x/%2e%2e
    ．． urn:x／.. ..;a ;a ?a
  `),
  ...['', ' ', '\u0000', '\ud800', 'urn:i:\ud800'],
];

/** Characters that some server interprets, and characters that decode or fold to them. */
const TREATED = [
  ...words(`
    a?b a#b a;b a/b a\\b a%b a%3Fb a%253Fb a%2Fb a%u003Fb a%c0%afb a/ a/b/ a？b a＃b a；b a／b a＼b a％b a⁄b a∕b ℀ ａ
    a+b a* a. a‥ a… a|b a"b
  `),
  ...['a b', 'a ', 'a\u00a0', 'a\tb', 'a\n', 'a\u0085', 'a\u200bb', 'a\ufeff'],
];

it('entityPath is the path of an entity, percent-encoded into one segment', () => {
  assert.deepEqual(entityPath('/temporal/entities', ID), { path: CAR, needsProof: false });
  assert.equal(entityPath('/entities', 'urn:a+b&c=d')?.path, '/entities/urn%3Aa%2Bb%26c%3Dd');
  assert.equal(
    entityPath('/entities', 'https://example.org/a/b?c=d#e')?.path,
    '/entities/https%3A%2F%2Fexample.org%2Fa%2Fb%3Fc%3Dd%23e',
  );
  assert.equal(entityPath('/entities', 'urn:i:速')?.path, '/entities/urn%3Ai%3A%E9%80%9F');
});

it('entityPath needs no proof for ids of unreserved characters and colons', () => {
  for (const id of words(
    `${ID} urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66 urn:x:10.0.0.1 urn:x:a~b_c 7`,
  )) {
    assert.equal(entityPath('/entities', id)?.needsProof, false, id);
  }
});

it('entityPath needs a proof for every id with a character that some servers interpret', () => {
  for (const id of TREATED) assert.notEqual(entityPath('/entities', id)?.needsProof, false, id);
  for (const id of ['a?b', 'a#b', 'a;b', 'a/b', 'a\\b', 'a%b', 'a%3Fb', 'a/', 'a+b', 'a ', 'a.']) {
    assert.equal(entityPath('/entities', id)?.needsProof, true, id);
  }
  for (const id of ['urn:é', 'urn:日本', 'urn:a,b', 'urn:a@b']) {
    assert.equal(entityPath('/temporal/entities', id)?.needsProof, true, id);
  }
});

it('entityPath is undefined if a server could read it as the collection, or it cannot be encoded', () => {
  for (const id of HOSTILE) {
    assert.equal(entityPath('/entities', id), undefined, id);
    assert.equal(entityPath('/temporal/entities', id), undefined, id);
  }
});

it('entityPath is undefined if a server that decodes too early could read it as the path of an attribute', () => {
  for (const id of words(`
    urn:T:1/attrs/a http://x.example/attrs urn:T:1/attrs/a/urn:i:1 urn:T:1//attrs/a urn:T:1%2Fattrs%2Fa
    urn:T:1%252Fattrs%252Fa urn:T:1\\attrs\\a urn:T:1;x/attrs;y/a urn:T:1/ATTRS/a
  `)) {
    assert.equal(entityPath('/entities', id), undefined, id);
    assert.equal(entityPath('/temporal/entities', id), undefined, id);
  }
  assert.notEqual(entityPath('/entities', 'http://x.example/attrsets/1'), undefined);
  assert.notEqual(entityPath('/entities', 'attrs'), undefined);
});

it('attributePath leads to an attribute of an entity, or to an instance of it', () => {
  assert.equal(attributePath('/entities', ID, 'speed'), '/entities/urn%3Angsi-ld%3ACar%3A1/attrs/speed');
  assert.equal(attributePath('/temporal/entities', ID, 'speed'), `${CAR}/attrs/speed`);
  assert.equal(instancePath('speed', 'urn:ngsi-ld:i:7'), `${CAR}/attrs/speed/urn%3Angsi-ld%3Ai%3A7`);
});

it('attributePath percent-encodes letters of all scripts, and characters that no server interprets', () => {
  assert.equal(
    instancePath('größe', 'urn:i:速度'),
    `${CAR}/attrs/gr%C3%B6%C3%9Fe/urn%3Ai%3A%E9%80%9F%E5%BA%A6`,
  );
  assert.equal(
    instancePath('x:a.b', "urn:i:(1)!$&'=@~"),
    `${CAR}/attrs/x%3Aa.b/urn%3Ai%3A(1)!%24%26'%3D%40~`,
  );
});

it('attributePath accepts names of properties that every JavaScript object has', () => {
  assert.equal(instancePath('__proto__', 'constructor'), `${CAR}/attrs/__proto__/constructor`);
});

it('attributePath is undefined if a name has a character that some servers interpret', () => {
  for (const name of [...HOSTILE, ...TREATED]) {
    for (const collection of ['/entities', '/temporal/entities'] as const) {
      assert.equal(attributePath(collection, name, 'speed'), undefined, `entity ${name}`);
      assert.equal(attributePath(collection, ID, name), undefined, `attribute ${name}`);
    }
    assert.equal(instancePath('speed', name), undefined, `instance ${name}`);
    assert.equal(instancePath(name, 'urn:i:1'), undefined, `attribute ${name} of an instance`);
  }
});

const texts = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string({ unit: fc.constantFrom(...Array.from('ab1:/.%2eF#?;*\\ é速')) }),
  fc.string({ unit: fc.constantFrom(...Array.from('ab1:.@é速')), minLength: 1 }),
  unicodeText(),
);

it('paths of resources decode to exactly the names of which they were made', () => {
  fc.assert(
    fc.property(texts, texts, texts, (entityId, attribute, instanceId) => {
      const whole = entityPath('/temporal/entities', entityId)?.path;
      const part = attributePath('/temporal/entities', entityId, attribute, instanceId);
      for (const path of [whole, part]) {
        if (path === undefined) continue;
        assert.match(path, /^[!-~]+$/);
        assert.doesNotMatch(path, /[?#]/);
      }
      const entity = ['', 'temporal', 'entities', entityId];
      if (whole !== undefined) assert.deepEqual(segmentsOf(whole), entity);
      if (part !== undefined) assert.deepEqual(segmentsOf(part), [...entity, 'attrs', attribute, instanceId]);
    }),
    { numRuns: 300 },
  );
});

const ODD = 'urn:a?b';

/** The paths of a broker that answers a GET of an entity's path, and the requests it got. */
function pathsOf(answer: (path: string, nth: number) => BrokerReply) {
  const asked: string[] = [];
  const { requester } = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    broker: ({ method, path }) => {
      assert.equal(method, 'GET');
      asked.push(path);
      return answer(path, asked.length);
    },
  });
  const proven = new Set<string>();
  const of = { requester, resource: entities('ids') };
  return { paths: { safePathOf: (id: string) => safePathOf(of, id, proven) }, asked };
}

it('the path of an entity is safe once a GET of it was answered with the same id', async () => {
  for (const reply of [
    replyOf(200, { id: ODD }),
    replyOf(200, { '@id': ODD }),
    replyOf(203, { id: ODD }),
    replyOf(206, { id: ODD }),
  ]) {
    const { paths, asked } = pathsOf(() => reply);
    assert.deepEqual(await paths.safePathOf(ODD), { path: '/entities/urn%3Aa%3Fb' });
    assert.deepEqual(await paths.safePathOf(ODD), { path: '/entities/urn%3Aa%3Fb' });
    assert.deepEqual(asked, ['/entities/urn%3Aa%3Fb'], 'asked once');
  }
});

it('the path of an entity is not safe after any other answer, and the item is refused', async () => {
  for (const [reply, why] of [
    [replyOf(200, { id: 'urn:a' }), /with urn:a\./],
    [replyOf(200, [{ id: ODD }]), /something other than an entity/],
    [replyOf(200, {}), /something other than an entity/],
    [replyOf(200, ODD), /something other than an entity/],
    [replyOf(201, { id: ODD }), /with status 201/],
    [replyOf(404, { id: ODD }), /with status 404/],
    [replyOf(400), /with status 400/],
    [replyOf(403, { id: ODD }), /with status 403/],
    [replyOf(302), /cannot be used: .*[^.]\. Nothing/],
  ] as const) {
    const { paths } = pathsOf(() => reply);
    const safe = await paths.safePathOf(ODD);
    assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
    const { status, detail = '' } = safe.doubt.problem;
    assert.equal(status, 501);
    assert.match(detail, why);
  }
});

it('the refusal of the path of an entity quotes at most 200 characters of the id that was shown instead', async () => {
  const { paths } = pathsOf(() => replyOf(200, { id: `urn:${'x'.repeat(1000)}` }));
  const safe = await paths.safePathOf(ODD);
  assert.ok('doubt' in safe && safe.doubt.kind === 'refused');
  assert.match(safe.doubt.problem.detail ?? '', /with urn:x{196}\. Nothing/);
});

it('the path of an entity may be proven later if the tries of the proof ran out, but not if the answer cannot be read', async () => {
  for (const [answer, kind] of [
    [() => replyOf(503), 'retryable'],
    [
      () => {
        throw new ReplyTooLargeError('too large');
      },
      'refused',
    ],
  ] as const) {
    const safe = await pathsOf(answer).paths.safePathOf(ODD);
    assert.ok('doubt' in safe && safe.doubt.kind === kind);
  }
});

it('the proof of the path of an entity ends the purge if the caller is refused, or an unexpected error occurs', async () => {
  await assert.rejects(pathsOf(() => replyOf(401)).paths.safePathOf(ODD), BrokerRefusedError);
  const { paths } = pathsOf(() => {
    throw new TypeError('a mistake');
  });
  await assert.rejects(paths.safePathOf(ODD), TypeError);
});

it('at most ten thousand paths of entities are remembered as proven', async () => {
  const { paths, asked } = pathsOf((path) => replyOf(200, { id: decodeURIComponent(path.slice(10)) }));
  for (let index = 0; index <= 10_000; index++) await paths.safePathOf(`urn:a?${index}`);
  const before = asked.length;
  await paths.safePathOf('urn:a?9999');
  assert.equal(asked.length, before);
  await paths.safePathOf('urn:a?10000');
  assert.equal(asked.length, before + 1);
});
