import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal } from '../../../sidecar/embedded-broker/refusal.js';
import { matchesScopes, parseScopeQuery } from '../../../sidecar/embedded-broker/scope-query.js';

const selects = (query: string, ...scopes: string[]) => matchesScopes(parseScopeQuery(query), scopes);

describe('scope queries (clause 4.19)', () => {
  it('a scope selects exactly itself, with # itself and all below, + any one level', () => {
    assert.equal(selects('/Madrid', '/Madrid'), true);
    assert.equal(selects('/Madrid', '/Madrid/Gardens'), false);
    for (const scope of ['/Madrid/Gardens', '/Madrid/Gardens/Parque/Parterre1']) {
      assert.equal(selects('/Madrid/Gardens/#', scope), true);
    }
    assert.equal(selects('/Madrid/Gardens/#', '/Madrid/Gardens2'), false);
    assert.equal(selects('/Madrid/+/Parque', '/Madrid/Sights/Parque'), true);
    assert.equal(selects('/Madrid/+', '/Madrid'), false);
  });

  it('/# selects every entity with a scope, and none without', () => {
    assert.equal(selects('/#', '/A'), true);
    assert.equal(selects('/#'), false);
  });

  it('alternatives and conjunctions are honoured', () => {
    assert.equal(selects('(/Madrid/Districts;/CompanyA)', '/CompanyA', '/Madrid/Districts'), true);
    assert.equal(selects('(/Madrid/Districts;/CompanyA)', '/CompanyA'), false);
    for (const either of ['(/A;/B)|/C', '(/A;/B),/C']) {
      assert.equal(selects(either, '/C'), true);
      assert.equal(selects(either, '/A'), false);
    }
  });

  it('what is no scope query is refused, and nothing else is thrown', () => {
    for (const text of [
      '',
      'Madrid',
      '/',
      '/A/',
      '//A',
      '/#/A',
      '/A#',
      '/A;/B',
      '(/A',
      '/A)',
      '/A,',
      '|/A',
      '((/A))',
      '/1a',
    ]) {
      assert.throws(() => parseScopeQuery(text), Refusal, text);
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', 'A', '#', '+', '(', ')', ';', '|', ',') }),
        (text) => {
          try {
            matchesScopes(parseScopeQuery(text), ['/A']);
          } catch (error) {
            assert.ok(error instanceof Refusal);
          }
        },
      ),
    );
  });
});
