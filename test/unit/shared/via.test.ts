import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLoopCheck } from '../../../sidecar/http/request-checks.js';
import { createViaName, detectLoop, MAX_HOPS, withVia } from '../../../sidecar/shared/via.js';

/** A Via that has passed this many other gateways of this kind. */
const passed = (gateways: number) =>
  Array.from({ length: gateways }, () => `1.1 ${createViaName()}`).join(', ');

it('each gateway has its own name in Via, which is a token', () => {
  const names = Array.from({ length: 50 }, createViaName);
  assert.equal(new Set(names).size, 50);
  for (const name of names) assert.match(name, /^ngsi-ld-gateway-[0-9a-f]{16}$/);
});

it('a gateway appends itself to Via with the version of HTTP, or starts a new Via', () => {
  assert.equal(withVia(undefined, 'me'), '1.1 me');
  for (const blank of ['', ' ', '\t ']) assert.equal(withVia(blank, 'me'), '1.1 me');
  assert.equal(withVia('1.1 a, 1.0 b', 'me'), '1.1 a, 1.0 b, 1.1 me');
});

it('a request is in a loop if its Via contains this gateway, at any position', () => {
  const name = createViaName();
  for (const via of [`1.1 ${name}`, `1.1 ${name}, 1.1 x`, `1.1 x, 1.0 ${name} (a comment)`])
    assert.equal(detectLoop(via, name), 'been-here', via);
  for (const via of ['', '1.1 x', passed(2)]) assert.equal(detectLoop(via, name), undefined, via);
});

it('a request may have passed nine other gateways, and not ten', () => {
  const name = createViaName();
  assert.equal(MAX_HOPS, 10);
  assert.equal(detectLoop(passed(9), name), undefined);
  assert.equal(detectLoop(passed(10), name), 'too-many-hops');
});

it('a request in a loop is refused with 508 and the reason', () => {
  const name = createViaName();
  const check = (via?: string) => createLoopCheck(name)({ headers: { via } });
  for (const via of [undefined, '', '1.1 x']) assert.equal(check(via), undefined);
  const [here, hops] = [check(`1.1 ${name}`), check(passed(10))];
  assert.deepEqual([here?.status, hops?.status], [508, 508]);
  assert.match(here?.detail ?? '', /has passed this gateway before/);
  assert.match(hops?.detail ?? '', /has passed 10 gateways/);
});
