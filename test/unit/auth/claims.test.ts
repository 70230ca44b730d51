import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { claimByPath, nameIn, rolesIn, tenantsIn } from '../../../sidecar/auth/claims.js';
import { TokenRefusedError } from '../../../sidecar/auth/index.js';
import { ROLES } from '../../../sidecar/shared/roles.js';

it('claimAt finds a claim by its name, dots included, and by a dotted path', () => {
  const claims = { roles: ['a'], realm_access: { roles: ['b'] }, 'https://city.example/roles': ['c'] };
  assert.deepEqual(claimByPath(claims, 'roles'), ['a']);
  assert.deepEqual(claimByPath(claims, 'realm_access.roles'), ['b']);
  assert.deepEqual(claimByPath(claims, 'https://city.example/roles'), ['c']);
  for (const path of ['other', 'roles.0.x', 'realm_access.other', 'realm_access.roles.b', '', '.', 'roles.'])
    assert.equal(claimByPath(claims, path), undefined, path);
});

it('claimAt finds the roles of a client whose name has dots, and prefers the longest matching name', () => {
  const clients = { 'city.gateway': { roles: ['a'] }, city: { 'gateway.roles': ['b'], gateway: 1 } };
  const claims = { resource_access: clients };
  assert.deepEqual(claimByPath(claims, 'resource_access.city.gateway.roles'), ['a']);
  assert.equal(claimByPath(claims, 'resource_access.city.gateway'), clients['city.gateway']);
  assert.deepEqual(claimByPath({ a: { 'b.c': 1 }, 'a.b': {} }, 'a.b.c'), 1);
});

it('claimAt ignores properties of prototypes', () => {
  const claims = JSON.parse('{"__proto__": {"roles": ["admin"]}, "a": {}}') as Record<string, unknown>;
  for (const path of [
    'constructor',
    'constructor.name',
    'a.constructor.name',
    'toString',
    'a.__proto__.roles',
    'roles',
  ])
    assert.equal(claimByPath(claims, path), undefined, path);
});

it('roles are read from a list or from text with blanks, and a higher role includes the lower ones', () => {
  const rolesOf = (claim: unknown) => [...rolesIn(claim)].sort();
  assert.deepEqual(rolesOf(['viewer']), ['viewer']);
  assert.deepEqual(rolesOf(['purger', 'other']), ['purger', 'viewer']);
  assert.deepEqual(rolesOf('modeller purger'), ['modeller', 'purger', 'viewer']);
  assert.deepEqual(rolesOf(['admin']), [...ROLES].sort());
});

it('a claim that is absent, a number, nested or without role names gives no role', () => {
  for (const claim of [
    undefined,
    null,
    7,
    true,
    '',
    'Admin',
    'administrator',
    {},
    { admin: true },
    { roles: ['admin'] },
    [],
    [['admin']],
    [{ name: 'admin' }],
    [7, null],
    ['constructor', '__proto__', 'toString'],
  ])
    assert.deepEqual([...rolesIn(claim)], [], JSON.stringify(claim));
});

it('a role map replaces the values that it lists, role names included, and leaves other values unchanged', () => {
  const map = new Map([
    ['city-admins', 'admin'],
    ['admin', 'viewer'],
    ['purger', undefined],
  ] as const);
  assert.equal(rolesIn(['city-admins'], map).has('admin'), true);
  assert.deepEqual([...rolesIn(['admin'], map)], ['viewer']);
  assert.deepEqual([...rolesIn(['purger'], map)], []);
  assert.deepEqual([...rolesIn(['modeller'], map)].sort(), ['modeller', 'viewer']);
});

it('a claim gives roles only if it contains the name of a role', () => {
  const names = fc.constantFrom(...ROLES);
  const words = fc.oneof(
    names,
    names.map((role) => role.slice(1)),
    fc.string(),
  );
  const texts = fc.array(words, { maxLength: 3 }).map((some) => some.join(' '));
  const lists = fc.array(fc.oneof(words, fc.jsonValue()));
  const claims = fc.oneof(texts, lists, fc.dictionary(words, words), fc.jsonValue());
  let giving = 0;
  fc.assert(
    fc.property(claims, (claim) => {
      const roles = rolesIn(claim);
      if (roles.size > 0) giving += 1;
      const values: readonly unknown[] =
        typeof claim === 'string' ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
      assert.equal(
        roles.size > 0,
        ROLES.some((role) => values.includes(role)),
        JSON.stringify(claim),
      );
    }),
  );
  assert.ok(giving > 0);
});

it('tenants are read from a list or from a single text, including the default tenant; other values give none', () => {
  assert.deepEqual([...tenantsIn(['a', '', 'b c'])], ['a', '', 'b c']);
  assert.deepEqual([...tenantsIn('a b')], ['a b']);
  for (const claim of [undefined, null, 7, {}, { a: 1 }, [['a']], ['a\nb', '\0']])
    assert.deepEqual([...tenantsIn(claim)], [], JSON.stringify(claim));
});

it('the name of a caller is preferred_username or sub, shortened and on one line; a token without either is refused', () => {
  assert.equal(nameIn({ preferred_username: 'vera', sub: '1' }), 'vera');
  assert.equal(nameIn({ preferred_username: ' ', sub: '1' }), '1');
  assert.equal(nameIn({ preferred_username: ['x'], sub: '1' }), '1');
  assert.equal(nameIn({ sub: 'a\nb\0' }), 'a b ');
  assert.equal(nameIn({ sub: 'x'.repeat(300) }).length, 256);
  // Databases store no half of a surrogate pair.
  for (const sub of [`${'x'.repeat(255)}\u{1f600}`, 'vera\ud800']) assert.ok(nameIn({ sub }).isWellFormed());
  for (const claims of [{}, { sub: 7 }, { sub: '' }, { name: 'vera' }])
    assert.throws(() => nameIn(claims), TokenRefusedError);
});
