import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ANONYMOUS, callerOf } from '../../../sidecar/http/access.js';
import { words } from '../../support/words.js';

/** From the most specific to the least. */
const HEADERS = words(`
  x-consumer-username x-consumer-id x-credential-identifier x-authenticated-userid
`);

it('the caller is named by the most specific header of the gateway in front', () => {
  const all = Object.fromEntries(HEADERS.map((name) => [name, `by ${name}`]));
  for (const [index, name] of HEADERS.entries()) {
    const headers = Object.fromEntries(HEADERS.slice(index).map((one) => [one, all[one] ?? '']));
    assert.equal(callerOf(headers, true), `by ${name}`);
    assert.equal(callerOf({ [name]: 'x' }, true), 'x');
  }
});

it('an empty or repeated name of the caller is skipped', () => {
  assert.equal(callerOf({ 'x-consumer-username': '', 'x-consumer-id': '7' }, true), '7');
  assert.equal(callerOf({ 'x-consumer-username': ['a', 'b'], 'x-consumer-id': '7' }, true), '7');
});

it('a caller without a name, or for whom no gateway vouches, is anonymous', () => {
  for (const name of HEADERS) assert.equal(callerOf({ [name]: 'me' }, false), ANONYMOUS);
  assert.equal(callerOf({}, true), ANONYMOUS);
  assert.equal(callerOf({ 'x-consumer-custom-id': '7', 'x-consumer-groups': 'g' }, true), ANONYMOUS);
});

it('the name of the caller is read as UTF-8, or left unchanged if it is not UTF-8', () => {
  const wire = (text: string) => Buffer.from(text).toString('latin1');
  assert.equal(callerOf({ 'x-consumer-username': wire('Zoë 😀') }, true), 'Zoë 😀');
  assert.equal(callerOf({ 'x-consumer-username': 'Zo\xeb' }, true), 'Zoë');
});

it('the name of the caller has 256 characters at most', () => {
  assert.equal(callerOf({ 'x-consumer-username': 'x'.repeat(256) }, true), 'x'.repeat(256));
  assert.equal(callerOf({ 'x-consumer-username': 'x'.repeat(257) }, true), 'x'.repeat(256));
});
