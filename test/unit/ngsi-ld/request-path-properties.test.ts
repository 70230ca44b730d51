import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { classifyRequest, isSingleResourceDeletePath } from '../../../sidecar/ngsi-ld/request-path.js';
import { runs } from '../../support/thoroughness.js';
import { words } from '../../support/words.js';
import { unicodeText } from '../../support/unicode-text.js';

/**
 * A very careless server, written independently of the tested code: at every level of decoding, it returns all paths by which it
 * might route.
 */
function sloppyRoutes(target: string): string[] {
  let text = target.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/s, '');
  const routes: string[] = [];
  for (let level = 0; level < 6; level += 1) {
    for (const variant of [text, text.replace(/[?#\0].*$/s, '')]) {
      routes.push(resolve(variant, true), resolve(variant, false));
    }
    text = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return routes;
}

function resolve(path: string, stripParameters: boolean): string {
  const out: string[] = [];
  for (const part of path.replaceAll('\\', '/').toLowerCase().split('/')) {
    const segment = (stripParameters ? (part.split(';')[0] ?? '') : part).replace(/[\0-\x20]/g, '');
    if (segment === '..') out.pop();
    else if (segment !== '' && segment !== '.') out.push(segment);
  }
  return `/${out.join('/')}`;
}

const COLLECTION =
  /^\/ngsi-ld\/v1\/(?:(?:temporal\/)?(?:entities|entitymaps)|subscriptions|csourceregistrations|csourcesubscriptions|jsonldcontexts|snapshots)$/;
const landsOnCollection = (target: string) => sloppyRoutes(target).some((route) => COLLECTION.test(route));

const EXACT = /^\/ngsi-ld\/v1\/(?:temporal\/)?entities\/?(?:\?[^#]*)?$/;

type Mutation = (text: string, at: number) => string;
const replaceAt = (text: string, at: number, by: (character: string) => string) =>
  text.slice(0, at) + by(text[at] ?? '') + text.slice(at + 1);
const insert =
  (piece: string): Mutation =>
  (text, at) =>
    text.slice(0, at) + piece + text.slice(at);
const percent = (character: string) =>
  character === '' ? '' : `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

const MUTATIONS: readonly Mutation[] = [
  (text, at) => replaceAt(text, at, percent),
  (text, at) => replaceAt(text, at, (character) => percent(character).toUpperCase()),
  (text, at) => replaceAt(text, at, (character) => character.toUpperCase()),
  (text, at) => replaceAt(text, at, (character) => (character === '/' ? '\\' : character)),
  (text, at) => replaceAt(text, at, (character) => (character === '/' ? '%2F' : character)),
  (text, at) => replaceAt(text, at, (character) => (character === '%' ? '%25' : character)),
  ...words(`
    / /. /./ /x/../ /../ .. . ; ;a=b ;/ %2e %2E%2e %5c.. %3b %3F %23 %00
  `).map(insert),
  ...['%09', '%20', ' ', '\t', '*', '?', '#', '%25', 'urn:x', '/attrs/', '/entities', '/temporal'].map(
    insert,
  ),
  (text) => `${text}/`,
  (text) => `${text}?type=T`,
  (text) => `http://broker${text}`,
];

const BASES = words(`
  /ngsi-ld/v1/entities /ngsi-ld/v1/temporal/entities /ngsi-ld/v1/subscriptions /ngsi-ld/v1/entities/urn:x
  /ngsi-ld/v1/entities/urn:x%2F.. /ngsi-ld/v1/entities/urn:x/attrs/a
  /ngsi-ld/v1/temporal/entities/urn:x/attrs/a/i
`);

const mutated = fc
  .tuple(
    fc.constantFrom(...BASES),
    fc.array(fc.tuple(fc.nat(MUTATIONS.length - 1), fc.nat(80)), { minLength: 0, maxLength: 6 }),
  )
  .map(([base, steps]) =>
    steps.reduce((text, [which, at]) => MUTATIONS[which]?.(text, at % (text.length + 1)) ?? text, base),
  );

it('a DELETE that a careless server takes for a collection is refused, or is exactly a purge', () => {
  let landed = 0;
  fc.assert(
    fc.property(mutated, (target) => {
      if (!landsOnCollection(target)) return;
      landed += 1;
      const { kind } = classifyRequest('DELETE', target);
      assert.equal(kind, EXACT.test(target) ? 'purge' : 'refuse', target);
    }),
    { numRuns: 5000 },
  );
  assert.ok(landed > 500, `only ${landed} of the mutations were to the point`);
});

it('a DELETE is a purge only for the four exact paths', () => {
  fc.assert(
    fc.property(mutated, (target) => {
      assert.equal(classifyRequest('DELETE', target).kind === 'purge', EXACT.test(target), target);
    }),
    { numRuns: runs(1000) },
  );
});

it('a DELETE that passes never reaches a collection, whatever the identifier and its encoding', () => {
  const character = fc.constantFrom(...Array.from('./\\;?#%25eE2Ff*: \t\0urnx'));
  const identifier = fc.oneof(fc.string({ unit: character, maxLength: 12 }), unicodeText({ maxLength: 8 }));
  fc.assert(
    fc.property(identifier, fc.boolean(), (id, encode) => {
      const target = `/ngsi-ld/v1/entities/${encode && !/\p{Surrogate}/u.test(id) ? encodeURIComponent(id) : id}`;
      if (classifyRequest('DELETE', target).kind === 'pass') assert.ok(!landsOnCollection(target), target);
      if (isSingleResourceDeletePath(target)) assert.ok(!landsOnCollection(target), target);
    }),
    { numRuns: runs(1500) },
  );
});

it('an override of the method is treated like a DELETE', () => {
  fc.assert(
    fc.property(mutated, fc.constantFrom('GET', 'POST', 'PATCH'), (target, method) => {
      const { kind } = classifyRequest(method, target, ['X-HTTP-Method-Override', 'DELETE']);
      assert.ok(!landsOnCollection(target) || kind === 'refuse', target);
    }),
    { numRuns: runs(1000) },
  );
});

const name = fc.string({
  unit: fc.constantFrom(...Array.from('abcXYZ019:-_~é€ß&=+!@')),
  minLength: 1,
  maxLength: 20,
});

it('a DELETE of one resource with a URN as identifier always passes', () => {
  fc.assert(
    fc.property(name, name, (id, attribute) => {
      const entity = `/ngsi-ld/v1/entities/${encodeURIComponent(`urn:ngsi-ld:${id}`)}`;
      assert.equal(classifyRequest('DELETE', entity).kind, 'pass');
      assert.equal(
        classifyRequest('DELETE', `${entity}/attrs/a${encodeURIComponent(attribute)}`).kind,
        'pass',
      );
    }),
  );
});

it('classification never throws, whatever the input', () => {
  const text = unicodeText({ maxLength: 200 });
  fc.assert(
    fc.property(text, text, fc.array(text), (method, target, headers) => {
      classifyRequest(method, target, headers);
      classifyRequest('DELETE', `/ngsi-ld/v1/${target}`, headers);
    }),
  );
});

it('classification stays fast for a long target of nested encodings', () => {
  const target = `/ngsi-ld/v1/entities/${'%25'.repeat(5000)}`;
  const start = process.cpuUsage();
  for (let round = 0; round < 20; round += 1) classifyRequest('DELETE', target);
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 2_000_000, `${user + system} µs of CPU`);
});
