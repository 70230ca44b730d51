import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import {
  accessToken,
  endSession,
  finishSignIn,
  refreshSignIn,
  signIn,
  signInFailure,
  signOut,
} from '../../../console/api/sign-in.js';
import { onCredentialsChange } from '../../../console/api/token.js';
import { getDraft, setDraft, restoreDrafts } from '../../../console/shared/drafts.js';
import { HOME, openTab, settled } from './open-tab.js';

const page = openTab();

const ISSUER = 'https://id.test';
const SETTINGS = { issuer: ISSUER, clientId: 'console', audience: 'gateway' };
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
};

/** Answers as a provider. @param token answers the token endpoint */
function provide(
  token: () => Response | Promise<Response> = () => tokens('first'),
  metadata: object = METADATA,
): void {
  page.answer = ({ url }) => (url === METADATA.token_endpoint ? token() : Response.json(metadata));
}

const tokens = (name: string) =>
  Response.json({ access_token: name, refresh_token: `${name}-refresh`, token_type: 'Bearer' });

/** Leaves for the provider. @returns the address there */
async function left(): Promise<URL> {
  await signIn(SETTINGS);
  return new URL(page.location.assigned.at(-1) ?? assert.fail('The page was not left.'));
}

/** Comes back from the provider. */
async function comeBack(answer: Readonly<Record<string, string>>): Promise<void> {
  page.location.href = `${HOME}console/?${new URLSearchParams(answer).toString()}`;
  await finishSignIn();
}

async function signedIn(): Promise<void> {
  provide();
  const state = (await left()).searchParams.get('state') ?? '';
  await comeBack({ state, code: 'a-code' });
}

const failureText = () => String(signInFailure());

it('sign-in sends a code with its proof to the token endpoint, and leaves neither code nor state in the address', async () => {
  provide();
  page.location.hash = '#/purge';
  const { searchParams } = await left();
  assert.deepEqual(
    ['response_type', 'code_challenge_method', 'redirect_uri'].map((name) => searchParams.get(name)),
    ['code', 'S256', `${HOME}console/`],
  );
  await comeBack({ state: searchParams.get('state') ?? '', code: 'a-code' });
  const form = new URLSearchParams(page.sent.at(-1)?.body);
  assert.equal(form.get('code'), 'a-code');
  assert.match(form.get('code_verifier') ?? '', /^[\w-]{43,}$/);
  assert.deepEqual(page.history.replaced, [[null, '/city/console/#/purge']]);
  assert.equal(accessToken(), 'first');
  assert.deepEqual([...page.session.kept.keys()], ['ngsi-ld-gateway.session']);
});

/** Whether the browser asks before the page is left. */
const asks = () => !page.window.dispatchEvent(new Event('beforeunload', { cancelable: true }));

it('unsaved text is restored after a sign-in, and the browser does not ask before leaving', async () => {
  const typed = { text: '{"maximum": 9007199254740993}', etag: '"1"' };
  setDraft('City/Bike', typed);
  provide();
  await left();
  assert.ok(!asks());
  // The page is loaded again.
  setDraft('City/Bike', undefined);
  restoreDrafts();
  assert.deepEqual(getDraft('City/Bike'), typed);
  assert.ok(asks());
  assert.ok(!page.session.kept.has('ngsi-ld-gateway.drafts'));
});

it('a page that was left to sign in and is shown again asks before it is left, as before', async () => {
  setDraft('City/Bike', { text: '{}' });
  provide();
  await left();
  page.window.dispatchEvent(new Event('pageshow'));
  assert.ok(asks());
  assert.ok(!page.session.kept.has('ngsi-ld-gateway.drafts'));
});

it('unsaved text is removed when its author signs out', async () => {
  await signedIn();
  setDraft('City/Bike', { text: '{"maximum": 1}' });
  const { reloads } = page.location;
  signOut();
  assert.deepEqual([getDraft('City/Bike'), asks()], [undefined, false]);
  assert.equal(page.location.reloads, reloads + 1);
  await signedIn();
  restoreDrafts();
  assert.equal(getDraft('City/Bike'), undefined);
});

it('what the address keeps of a form is removed before the page is loaded again for the next person', async () => {
  await signedIn();
  page.location.hash = '#/purge?query=type%3DVehicle&tenant=city?';
  let last: string | undefined;
  page.location.reload = () => {
    last = page.history.replaced.at(-1)?.[1];
  };
  signOut();
  assert.equal(last, '#/purge');
});

/** Lets the storage of the tab refuse texts whose names end with a word. */
function refuseToStore(word: string): void {
  const setItem = page.session.setItem.bind(page.session);
  page.session.setItem = (name, value) => {
    if (name.endsWith(word)) throw new DOMException('full', 'QuotaExceededError');
    setItem(name, value);
  };
}

it('the browser asks before leaving to sign in if unsaved text cannot be stored', async () => {
  setDraft('City/Bike', { text: '{}' });
  provide();
  refuseToStore('drafts');
  await left();
  assert.ok(asks());
});

it('an unexpected answer of a provider, or one with a wrong state, signs nobody in', async () => {
  provide();
  await comeBack({ state: 'x', code: 'of-an-attacker' });
  assert.deepEqual([accessToken(), page.sent.length], [undefined, 0]);
  await left();
  await comeBack({ state: 'x', code: 'of-an-attacker', error_description: 'Call this number' });
  assert.equal(accessToken(), undefined);
  assert.match(failureText(), /unexpected "state"/);
  assert.ok(!page.lines.some((line) => line.startsWith('POST')));
  assert.equal(page.session.kept.size, 0);
});

it('a stored sign-in that is damaged signs nobody in and does not stop the page', async () => {
  for (const damaged of ['{', 'null', '1', '{}']) {
    page.session.kept.set('ngsi-ld-gateway.departure', damaged);
    await comeBack({ state: 'x', code: 'a-code' });
    assert.deepEqual([accessToken(), page.session.kept.size, page.sent.length], [undefined, 0, 0], damaged);
  }
});

it('a refusal of the provider is quoted, up to a maximum length', async () => {
  provide();
  const state = (await left()).searchParams.get('state') ?? '';
  await comeBack({ state, error: 'access_denied', error_description: `<b>no</b> ${'x'.repeat(1000)}` });
  assert.match(failureText(), /^Error: The provider answered access_denied: <b>no<\/b> x+$/);
  assert.ok(failureText().length < 400);
});

it('sign-in leaves the page only for http and https addresses', async () => {
  provide(undefined, { ...METADATA, authorization_endpoint: 'javascript:alert(1)' });
  await assert.rejects(signIn(SETTINGS), /not an https address/);
  assert.deepEqual([page.location.assigned, page.session.kept.size], [[], 0]);
});

it('the refresh token gets a new access token, but not for one that is only seconds old', async () => {
  await signedIn();
  provide(() => tokens('second'));
  assert.equal(await refreshSignIn(), false);
  mock.timers.tick(60_000);
  assert.deepEqual(await Promise.all([refreshSignIn(), refreshSignIn()]), [true, true]);
  assert.equal(page.lines.filter((line) => line.startsWith('POST')).length, 2);
  assert.equal(new URLSearchParams(page.sent.at(-1)?.body).get('refresh_token'), 'first-refresh');
  assert.equal(accessToken(), 'second');
});

it('a user stays signed in until the page is left if the session cannot be stored', async (t) => {
  t.after(endSession);
  let changes = 0;
  t.after(onCredentialsChange(() => (changes += 1)));
  refuseToStore('session');
  await signedIn();
  assert.deepEqual([accessToken(), signInFailure(), changes], ['first', undefined, 1]);
});

it('a new access token replaces the stored one even if it cannot be stored', async (t) => {
  t.after(endSession);
  await signedIn();
  mock.timers.tick(60_000);
  refuseToStore('session');
  provide(() => tokens('second'));
  assert.deepEqual([await refreshSignIn(), accessToken()], [true, 'second']);
});

it('a sign-in that cannot be stored does not leave the page', async () => {
  provide();
  refuseToStore('departure');
  await assert.rejects(signIn(SETTINGS), /stores nothing/);
  assert.deepEqual(page.location.assigned, []);
});

it('signing out while a new access token is being requested leaves nobody signed in', async () => {
  await signedIn();
  mock.timers.tick(60_000);
  let answer: (response: Response) => void = () => {};
  provide(() => new Promise((resolve) => (answer = resolve)));
  const refreshing = refreshSignIn();
  await settled();
  signOut();
  answer(tokens('second'));
  assert.equal(await refreshing, false);
  assert.deepEqual([accessToken(), page.session.kept.size], [undefined, 0]);
});

it('sign-in gives up on a provider that does not answer', async () => {
  const timeout = new AbortController();
  const given = mock.method(AbortSignal, 'timeout', () => timeout.signal);
  provide(() => new Promise(() => {}));
  const state = (await left()).searchParams.get('state') ?? '';
  const back = comeBack({ state, code: 'a-code' });
  await settled();
  timeout.abort();
  await back;
  assert.equal(accessToken(), undefined);
  assert.ok(given.mock.calls.every(({ arguments: [ms] }) => ms === 10_000));
  given.mock.restore();
});
