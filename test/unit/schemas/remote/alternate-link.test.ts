import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alternateOf } from '../../../../sidecar/schemas/remote/remote-documents.js';

describe('the JSON-LD alternate in a Link header', () => {
  for (const [header, target] of [
    ['</ctx.jsonld>; rel="alternate"; type="application/ld+json"', '/ctx.jsonld'],
    ['<https://a.example/x,y>; type=application/ld+json; rel=alternate', 'https://a.example/x,y'],
    ['<a>; rel=next, <b>; title="a, \\"b\\"; c"; REL="ALTERNATE"; type="application/ld+json"', 'b'],
    ['<a>; rel=next, <b>; title="a, b"; REL="ALTERNATE"; type="application/ld+json"', 'b'],
    ['<a>; rel="alternate"; type="text/html", <b>; rel="alternate"', undefined],
    ['', undefined],
    [undefined, undefined],
    ['<'.repeat(16_000), undefined],
  ] as const) {
    it(`the JSON-LD alternate in a Link header is ${target ?? 'none'} in ${(header ?? 'nothing').slice(0, 90)}`, () => {
      assert.equal(alternateOf(header), target);
    });
  }
});
