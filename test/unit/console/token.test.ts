import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  askForToken,
  forgetToken,
  giveToken,
  isAskedForToken,
  onCredentialsChange,
  token,
} from '../../../console/api/token.js';
import { openTab } from './open-tab.js';

const page = openTab();
afterEach(() => {
  page.session.isOff = false;
  giveToken(undefined);
});

it('the token is stored only in the session storage of its tab', () => {
  giveToken('secret');
  assert.deepEqual([...page.session.kept.values()], ['secret']);
  assert.equal(page.local.kept.size, 0);
  assert.equal(token(), 'secret');
});

it('a forgotten token is removed everywhere', () => {
  giveToken('secret');
  forgetToken();
  assert.equal(page.session.kept.size, 0);
  assert.equal(token(), undefined);
});

it('without storage, the token lasts until the page is left or the token is forgotten', () => {
  page.session.isOff = true;
  assert.equal(token(), undefined);
  giveToken('secret');
  assert.equal(token(), 'secret');
  forgetToken();
  assert.equal(token(), undefined);
});

it('simultaneous callers share one question for the token, and a later caller asks again', async () => {
  const answers = [askForToken(), askForToken()];
  assert.ok(isAskedForToken());
  giveToken('secret');
  assert.deepEqual(await Promise.all(answers), [true, true]);
  assert.ok(!isAskedForToken());
  const next = askForToken();
  assert.ok(isAskedForToken());
  giveToken(undefined);
  assert.equal(await next, false);
  assert.ok(!isAskedForToken());
});

it('the tab keeps its token if no new one is given', () => {
  giveToken('secret');
  giveToken(undefined);
  assert.equal(token(), 'secret');
});

it('each change of the token, and of whether it is asked for, is reported until the listener is removed', () => {
  const seen: unknown[] = [];
  const stop = onCredentialsChange(() => seen.push([isAskedForToken(), token()]));
  void askForToken();
  // The question is already shown.
  void askForToken();
  giveToken('secret');
  forgetToken();
  assert.deepEqual(seen, [
    [true, undefined],
    [false, 'secret'],
    [false, undefined],
  ]);
  stop();
  giveToken('other');
  assert.equal(seen.length, 3);
});
