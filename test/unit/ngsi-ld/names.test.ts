import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isName, isUri, MAX_NAME_CHARS } from '../../../sidecar/ngsi-ld/names.js';
import { words } from '../../support/words.js';

it('names (clause 4.6.2) may be terms of letters, digits, "_", "-" and "." in any script', () => {
  for (const name of words(`
      speed NO2 CO_Level _private __proto__ température 温度 café day-LOW Cl- pm2.5 3DModel
    `)) {
    assert.equal(isName(name), true, name);
  }
});

it('names (clause 4.6.2) may be compact IRIs, and IRIs as in published contexts', () => {
  for (const name of words(`
    ex:speed ngsi-ld:default-context/speed schema:alternateName urn:ngsi-ld:attribute:speed
    https://uri.etsi.org/ngsi-ld/default-context/speed https://uri.fiware.org/ns/data-models#seeAlso
    https://smart-data-models.github.io/data-models/terms.jsonld#/definitions/dateObserved
    http://purl.org/goodrelations/v1#COD https://example.org/a(b);c='d'&e=f?g=h!
    https://example.org/caf%C3%A9/größe http://localhost:8080/api/v2/contexts/x~y#z
  `)) {
    assert.equal(isName(name), true, name);
  }
});

it('names (clause 4.6.2) may not be paths, wildcards, operators, keywords or texts with blanks', () => {
  for (const name of [
    ...words(`
    * spe*d https://example.org/* owner{name} https://example.org/owner{name} ex:owner{name} address[city]
    ex:address[city] a|b a;b a==1 !a (a) "a" 'a' a/b a#b a%20b https://example.org/100%
    https://example.org/%zz @id -a .a :a a: 1:a -a:b {x}a:b "ex:a" ex:<a> ex:a\\b ex:a^b
  `),
    '',
    'a b',
    ' a',
    'https://example.org/a b',
    'a\u0000',
    'ex:a\u200b',
    'ex:a`',
  ]) {
    assert.equal(isName(name), false, name);
  }
});

it('IRIs as names (clause 4.6.2) have none of the characters with another meaning in a query', () => {
  for (const character of [' ', '\t', '\u0000', '\u200b', ...'< > " { } | \\ ^ ` * [ ]'.split(' ')]) {
    for (const name of [`ex:a${character}b`, `ex:${character}a`, `ex:a${character}`, `${character}ex:a`])
      assert.equal(isName(name), false, JSON.stringify(name));
  }
});

it('names (clause 4.6.2) have a maximum length', () => {
  assert.equal(isName('a'.repeat(MAX_NAME_CHARS)), true);
  assert.equal(isName('a'.repeat(MAX_NAME_CHARS + 1)), false);
  assert.equal(isName(`ex:${'a'.repeat(MAX_NAME_CHARS - 2)}`), false);
});

it('names (clause 4.6.2) are checked in linear time', () => {
  const startedMs = performance.now();
  for (const hostile of ['a-'.repeat(1000), `a:${'%41'.repeat(600)}%`, 'é'.repeat(2000), 'a.'.repeat(1000)])
    for (let time = 0; time < 50; time += 1) isName(`${hostile} `);
  assert.ok(performance.now() - startedMs < 2000);
});

it('URIs (clause 4.6.1) have a scheme, and no character that URIs cannot have', () => {
  for (const text of ['urn:a:1', 'HTTPS://x.test/y?z#w', 'a+b-c.d:e', 'urn:é', 'urn:a%3Fb'])
    assert.equal(isUri(text), true, text);
  for (const text of ['a', ':a', 'urn:', '1:a', 'urn:a b', 'urn:<a>', 'urn:{a}', 'urn:a|b', 'urn:"', 'é:a'])
    assert.equal(isUri(text), false, text);
});

it('URIs (clause 4.6.1) are refused for any forbidden character, at any position', () => {
  for (const character of [' ', '\t', '\n', '<', '>', '"', '{', '}', '|', '\\', '^', '`']) {
    for (const text of [`urn:a${character}b`, `urn:${character}a`, `urn:a${character}`, `${character}urn:a`])
      assert.equal(isUri(text), false, JSON.stringify(text));
  }
});
