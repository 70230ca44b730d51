import assert from 'node:assert/strict';
import { it } from 'node:test';
import { requestIdOf, loggedPath, refusalFields } from '../../../sidecar/http/request-log.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

it('a request keeps the id that it came with, in preference to that of Kong', () => {
  const [own, kong] = [{ 'x-request-id': 'mine' }, { 'x-kong-request-id': 'kongs' }];
  assert.equal(requestIdOf({ headers: { ...kong, ...own } }), 'mine');
  assert.equal(requestIdOf({ headers: kong }), 'kongs');
  assert.equal(requestIdOf({ headers: { ...kong, 'x-request-id': '' } }), 'kongs');
});

it('an id of 128 visible characters is kept, and any other is replaced', () => {
  const id = '~!'.repeat(64);
  assert.equal(requestIdOf({ headers: { 'x-request-id': id } }), id);
  for (const other of ['', `${id}x`, 'a b', 'a\tb', 'ä', '\x7f'])
    assert.match(requestIdOf({ headers: { 'x-request-id': other } }), UUID, other);
});

it('a request without an id gets a new one, which stays the same', () => {
  const [one, other] = [{ headers: {} }, { headers: {} }];
  assert.match(requestIdOf(one), UUID);
  assert.equal(requestIdOf(one), requestIdOf(one));
  assert.notEqual(requestIdOf(one), requestIdOf(other));
});

it('a logged path has no query, and five hundred characters at most', () => {
  assert.equal(loggedPath('/a?token=secret'), '/a');
  assert.equal(loggedPath(`/${'x'.repeat(499)}`), `/${'x'.repeat(499)}`);
  assert.equal(loggedPath(`/${'x'.repeat(500)}`), `/${'x'.repeat(499)}…`);
});

it('a logged refusal has its method, path, status and a detail of five hundred characters at most', () => {
  const problem = { type: 'urn:x', title: 'X', status: 418 };
  const request = { method: 'DELETE', url: '/a?q=secret' };
  assert.deepEqual(refusalFields(request, { ...problem, detail: 'd'.repeat(501) }), {
    method: 'DELETE',
    path: '/a',
    status: 418,
    detail: `${'d'.repeat(500)}…`,
  });
  assert.equal(refusalFields(request, { ...problem, detail: 'd'.repeat(500) }).detail, 'd'.repeat(500));
  assert.equal(refusalFields(request, problem).detail, '');
});
