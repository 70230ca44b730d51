import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  askForToken,
  forgetToken,
  giveToken,
  isAskedForToken,
  onTokenChange,
  token,
} from '../../../console/api/token.js';
import { openTab } from './open-tab.js';

const page = openTab();
afterEach(() => {
  page.session.isOff = false;
  giveToken(undefined);
});

it('the token is in the storage of its tab, which ends with it, and in no other place', () => {
  giveToken('secret');
  assert.deepEqual([...page.session.kept.values()], ['secret']);
  assert.equal(page.local.kept.size, 0);
  assert.equal(token(), 'secret');
});

it('a token that was forgotten is nowhere any more', () => {
  giveToken('secret');
  forgetToken();
  assert.equal(page.session.kept.size, 0);
  assert.equal(token(), undefined);
});

it('where the tab has no storage, the token holds until the page is left, or it is forgotten', () => {
  page.session.isOff = true;
  assert.equal(token(), undefined);
  giveToken('secret');
  assert.equal(token(), 'secret');
  forgetToken();
  assert.equal(token(), undefined);
});

it('all that ask for the token at the same time have the same answer, and the next one asks anew', async () => {
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

it('who has no token to give leaves the one that the tab has', () => {
  giveToken('secret');
  giveToken(undefined);
  assert.equal(token(), 'secret');
});

it('each change of the token, and of whether it is asked for, is told until nobody listens any more', () => {
  const seen: unknown[] = [];
  const stop = onTokenChange(() => seen.push([isAskedForToken(), token()]));
  void askForToken();
  // The question is there already.
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
