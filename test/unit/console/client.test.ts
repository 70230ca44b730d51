import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import {
  urlOf,
  api,
  apiUrl,
  ApiError,
  isConflict,
  needsToken,
  UnreachableError,
} from '../../../console/api/client.js';
import { accessToken } from '../../../console/api/sign-in.js';
import { clearToken, submitToken, isTokenAsked } from '../../../console/api/token.js';
import { getDraft, setDraft } from '../../../console/shared/drafts.js';
import { HOME, openTab, problem, settled } from './open-tab.js';

const WANTED = { type: 'urn:ngsi-ld-gateway:problem:unauthorized' };

const status = async () => api.json('get', '/status');

async function apiErrorOf(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.catch((caught: unknown) => caught);
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

const page = openTab();
afterEach(() => submitToken(undefined));
const tokens = () => page.sent.map(({ headers }) => headers.get('x-gateway-token'));

it('a request goes to the gateway below the path of the page, and bypasses caches', async () => {
  assert.equal(urlOf('api/v2/x?a=b'), `${HOME}api/v2/x?a=b`);
  assert.equal(apiUrl(['references'], { uri: 'a b' }), `${HOME}api/v2/references?uri=a+b`);
  await status();
  const [{ url, cache } = assert.fail()] = page.sent;
  assert.deepEqual([url, cache], [`${HOME}api/v2/status`, 'no-store']);
});

it('the token of the tab is in the header of each request, and no header is sent without one', async () => {
  await status();
  for (const token of ['one', 'two']) {
    submitToken(token);
    await status();
  }
  clearToken();
  await status();
  assert.deepEqual(tokens(), [null, 'one', 'two', null]);
});

it('requests that were refused for lack of a token share one question, and are sent again with the token', async () => {
  submitToken('wrong');
  page.answer = ({ headers }) =>
    headers.get('x-gateway-token') === 'right' ? Response.json({ a: 1 }) : problem(401, WANTED);
  const answers = [1, 2, 3].map(status);
  await settled();
  assert.ok(isTokenAsked());
  assert.equal(page.sent.length, 3);
  submitToken('right');
  assert.deepEqual(await Promise.all(answers), [{ a: 1 }, { a: 1 }, { a: 1 }]);
  assert.ok(!isTokenAsked());
  assert.equal(page.sent.length, 6);
});

it('a request is refused, and not sent again, if the token is not given', async () => {
  page.answer = () => problem(401, WANTED);
  const refused = apiErrorOf(status());
  await settled();
  submitToken(undefined);
  assert.ok(needsToken(await refused));
  assert.equal(page.sent.length, 1);
});

it('signed-in users send their access token instead, and are asked to sign in again when it is refused', async () => {
  submitToken('shared');
  const settings = { issuer: 'https://id.example', clientId: 'console', audience: 'gateway' };
  const session = JSON.stringify({ settings, accessToken: 'of-vera' });
  sessionStorage.setItem('ngsi-ld-gateway.session', session);
  await status();
  assert.deepEqual(tokens(), [null]);
  assert.equal(page.sent[0]?.headers.get('authorization'), 'Bearer of-vera');
  clearToken();
  page.answer = () => problem(401, { type: 'urn:ngsi-ld-gateway:problem:token-refused' });
  const refused = apiErrorOf(status());
  await settled();
  assert.ok(isTokenAsked());
  assert.equal(accessToken(), undefined);
  submitToken(undefined);
  assert.ok(needsToken(await refused));
});

describe('an access token that has expired', () => {
  const ISSUER = 'https://id.example';
  /** Signs in, with a provider that gives new tokens for the refresh token. @returns how often it did */
  function signedIn(): { times: number } {
    const settings = { issuer: ISSUER, clientId: 'console', audience: 'gateway' };
    const session = { settings, accessToken: 'old', refreshToken: 'again', sinceMs: 0 };
    sessionStorage.setItem('ngsi-ld-gateway.session', JSON.stringify(session));
    const given = { times: 0 };
    const ofGateway = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      if (input instanceof Request) return ofGateway(input);
      if (String(input).endsWith('/.well-known/openid-configuration'))
        return Response.json({ issuer: ISSUER, token_endpoint: `${ISSUER}/token` });
      assert.ok(init?.body instanceof URLSearchParams);
      assert.equal(init.body.get('grant_type'), 'refresh_token');
      given.times += 1;
      return Response.json({ access_token: `new-${given.times}`, token_type: 'bearer' });
    };
    return given;
  }
  const refusedUnless = (isGood: (authorization: string | null) => boolean) => {
    page.answer = ({ headers }) =>
      isGood(headers.get('authorization'))
        ? Response.json({ a: 1 })
        : problem(401, { type: 'urn:ngsi-ld-gateway:problem:token-refused' });
  };

  it('an expired access token is replaced without a question, once for all refused requests', async () => {
    const given = signedIn();
    refusedUnless((authorization) => authorization === 'Bearer new-1');
    assert.deepEqual(await Promise.all([status(), status()]), [{ a: 1 }, { a: 1 }]);
    assert.deepEqual([accessToken(), given.times, isTokenAsked()], ['new-1', 1, false]);
  });

  it('an expired access token is not replaced again and again if new tokens are refused as well', async () => {
    const given = signedIn();
    refusedUnless(() => false);
    const refused = apiErrorOf(status());
    while (!isTokenAsked()) await settled();
    assert.deepEqual([accessToken(), given.times], [undefined, 1]);
    submitToken(undefined);
    assert.ok(needsToken(await refused));
  });

  it('unsaved drafts are kept when an access token expires', async () => {
    setDraft('City/Bike', { text: '{}' });
    signedIn();
    refusedUnless(() => false);
    const refused = apiErrorOf(status());
    while (!isTokenAsked()) await settled();
    submitToken(undefined);
    await refused;
    assert.deepEqual([accessToken(), getDraft('City/Bike')], [undefined, { text: '{}' }]);
  });
});

it('a late refusal of an old token does not ask again after a newer token was given', async () => {
  submitToken('old');
  const answers = page.hold();
  const asked = status();
  await settled();
  submitToken('new');
  answers[0]?.(problem(401, WANTED));
  await settled();
  assert.ok(!isTokenAsked());
  answers[1]?.(Response.json({ a: 1 }));
  assert.deepEqual([await asked, tokens()], [{ a: 1 }, ['old', 'new']]);
});

it('a request asks for the token again if the token was forgotten in the meantime', async () => {
  submitToken('old');
  page.answer = () => {
    clearToken();
    return problem(401, WANTED);
  };
  const refused = apiErrorOf(status());
  await settled();
  assert.ok(isTokenAsked());
  submitToken(undefined);
  await refused;
  assert.equal(page.sent.length, 1);
});

it('no other refusal asks for the token, because brokers and gateways in front answer 401 as well', async () => {
  for (const [code, members] of [
    [401, {}],
    [401, { type: 'about:blank' }],
    [403, { type: 'urn:ngsi-ld-gateway:problem:forbidden' }],
  ] as const) {
    page.answer = () => problem(code, members);
    assert.equal((await apiErrorOf(status())).problem.status, code);
    assert.ok(!isTokenAsked());
  }
  assert.ok(!needsToken(new Error('unauthorized')));
});

it('only a failed condition of a request means that a resource was changed elsewhere', () => {
  for (const code of [400, 404, 409, 411, 412, 413, 428])
    assert.equal(isConflict(new ApiError({ title: '', status: code }, undefined)), code === 412);
  assert.ok(!isConflict(undefined) && !isConflict(new UnreachableError('u', 'w', true, {})));
});
