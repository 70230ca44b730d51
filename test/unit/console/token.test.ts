import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  askForToken,
  clearToken,
  submitToken,
  isTokenAsked,
  onCredentialsChange,
  token,
} from '../../../console/api/token.js';
import { openTab } from './open-tab.js';

const page = openTab();
afterEach(() => {
  page.session.isOff = false;
  submitToken(undefined);
});

it('the token is stored only in the session storage of its tab', () => {
  submitToken('secret');
  assert.deepEqual([...page.session.kept.values()], ['secret']);
  assert.equal(page.local.kept.size, 0);
  assert.equal(token(), 'secret');
});

it('a forgotten token is removed everywhere', () => {
  submitToken('secret');
  clearToken();
  assert.equal(page.session.kept.size, 0);
  assert.equal(token(), undefined);
});

it('without storage, the token lasts until the page is left or the token is forgotten', () => {
  page.session.isOff = true;
  assert.equal(token(), undefined);
  submitToken('secret');
  assert.equal(token(), 'secret');
  clearToken();
  assert.equal(token(), undefined);
});

it('simultaneous callers share one question for the token, and a later caller asks again', async () => {
  const answers = [askForToken(), askForToken()];
  assert.ok(isTokenAsked());
  submitToken('secret');
  assert.deepEqual(await Promise.all(answers), [true, true]);
  assert.ok(!isTokenAsked());
  const next = askForToken();
  assert.ok(isTokenAsked());
  submitToken(undefined);
  assert.equal(await next, false);
  assert.ok(!isTokenAsked());
});

it('the tab keeps its token if no new one is given', () => {
  submitToken('secret');
  submitToken(undefined);
  assert.equal(token(), 'secret');
});

it('each change of the token, and of whether it is asked for, is reported until the listener is removed', () => {
  const seen: unknown[] = [];
  const stop = onCredentialsChange(() => seen.push([isTokenAsked(), token()]));
  void askForToken();
  // The question is already shown.
  void askForToken();
  submitToken('secret');
  clearToken();
  assert.deepEqual(seen, [
    [true, undefined],
    [false, 'secret'],
    [false, undefined],
  ]);
  stop();
  submitToken('other');
  assert.equal(seen.length, 3);
});
