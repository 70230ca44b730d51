import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { matchesScopes, namesScopes, parseScopeQuery } from '../../../sidecar/ngsi-ld/scope-query.js';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';
import { words } from '../../support/words.js';

const selects = (query: string, ...scopes: string[]) => matchesScopes(parseScopeQuery(query), scopes);

it('a scope selects exactly itself, with # itself and everything below, and + any single level', () => {
  assert.equal(selects('/Madrid', '/Madrid'), true);
  assert.equal(selects('/Madrid', '/Madrid/Gardens'), false);
  for (const scope of ['/Madrid/Gardens', '/Madrid/Gardens/Parque/Parterre1']) {
    assert.equal(selects('/Madrid/Gardens/#', scope), true);
  }
  assert.equal(selects('/Madrid/Gardens/#', '/Madrid/Gardens'), true);
  assert.equal(selects('/Madrid/Gardens/#', '/Madrid'), false);
  assert.equal(selects('/Madrid/+/#', '/Madrid'), false);
  assert.equal(selects('/Madrid/Gardens/#', '/Madrid/Gardens2'), false);
  assert.equal(selects('/Madrid/+/Parque', '/Madrid/Sights/Parque'), true);
  assert.equal(selects('/Madrid/+', '/Madrid'), false);
  assert.equal(selects('/Nouvelle-Aquitaine/2', '/Nouvelle-Aquitaine/2'), true);
});

it('/# selects every entity with a scope, and none without', () => {
  assert.equal(selects('/#', '/A'), true);
  assert.equal(selects('/#'), false);
});

it('alternatives and conjunctions of scopes are applied', () => {
  assert.equal(selects('(/Madrid/Districts;/CompanyA)', '/CompanyA', '/Madrid/Districts'), true);
  assert.equal(selects('(/Madrid/Districts;/CompanyA)', '/CompanyA'), false);
  for (const either of ['(/A;/B)|/C', '(/A;/B),/C']) {
    assert.equal(selects(either, '/C'), true);
    assert.equal(selects(either, '/A'), false);
  }
});

it('an invalid scope query is refused with NgsiLdSyntaxError', () => {
  for (const text of [
    ...words(`
      Madrid / /A/ //A /#/A /A# /A;/B (/A /A) /A, |/A ((/A)) /+a /A{b} /A* (/A;/B)|C
    `),
    '',
    '/A b',
  ]) {
    assert.throws(() => parseScopeQuery(text), NgsiLdSyntaxError, text);
  }
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('/', 'A', '#', '+', '(', ')', ';', '|', ',') }), (text) => {
      try {
        matchesScopes(parseScopeQuery(text), ['/A']);
      } catch (error) {
        assert.ok(error instanceof NgsiLdSyntaxError);
      }
    }),
  );
});

it('a scope query names a scope if every alternative has a named level', () => {
  for (const text of ['/A', '/A/#', '/+/A', '(/#;/A)', '/A|/B,/C/+'])
    assert.equal(namesScopes(parseScopeQuery(text)), true, text);
  for (const text of ['/#', '/+', '/+/+/#', '/A|/#', '/+,/A', '(/#;/+)'])
    assert.equal(namesScopes(parseScopeQuery(text)), false, text);
});
