import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patternExample } from '../../../../sidecar/schemas/json-schema/pattern-example.js';

describe('the example of a pattern', () => {
  it('the example of a pattern matches the pattern, for all common parts of patterns', () => {
    for (const pattern of [
      '^[\\w\\-\\.\\{\\}\\$\\+\\*\\[\\]`|~^@!,:\\\\]+$',
      '^--((0[13578]|1[02])-31|(0[1,3-9]|1[0-2])-30|(0\\d|1[0-2])-([0-2]\\d))$',
      '^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$',
      '^urn:ngsi-ld:[A-Z][a-z]+:\\d{3,}$',
      '^(?:a|b)?c*d+?[^a-z\\s]{2}$',
      '^(?<year>\\d{4})-\\d\\d$',
      '^(?!urn:)[a-z]+(?=a|b).$',
      '^\\p{Lu}\\p{Ll}\\u0041\\u{1F600}\\x42\\cA?\\t$',
      '\\bword\\b',
      '^$|^[[\\]]{3}$',
      'a{0}b{2,}c{1,3}',
      '^.{7}$',
      '[\\]^-]',
      'unanchored',
      '',
    ]) {
      const example = patternExample(pattern);
      assert.ok(
        example !== undefined && new RegExp(pattern, 'u').test(example),
        `${pattern}: ${String(example)}`,
      );
    }
  });

  it('the example of a pattern has the requested length', () => {
    assert.equal(patternExample('^[a-z]*$', (text) => text.length >= 20)?.length, 32);
    assert.equal(
      patternExample('^[a-z]{2}$', (text) => text.length > 2),
      undefined,
    );
  });

  it('the example of a pattern is omitted for an invalid pattern, a contradiction or an excessive one', () => {
    for (const pattern of ['(', 'a(?=b)c', '^a{1000}$', '(?:(?:a{250}){250}){250}', '\\b\\B'])
      assert.equal(patternExample(pattern), undefined, pattern);
  });

  it('the example of a pattern repeats nothing more often than 256 times', () => {
    assert.equal(patternExample('^a{256}$')?.length, 256);
    assert.equal(patternExample('^a{257}$'), undefined);
  });
});
