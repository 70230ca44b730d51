import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, it } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { TokenRefusedError, TokenVerifier } from '../../../sidecar/auth/index.js';
import { HandClock } from '../../support/hand-clock.js';
import { listening, type Listening } from '../../support/listening.js';

const ISSUER = 'https://id.city.example';
const AUDIENCE = 'gateway';

/** The keys of a provider in this process, and how often they were requested. */
const published = { keys: [] as object[], requests: 0 };
let provider: Listening;

before(async () => {
  provider = await listening(
    createServer((_req, res) => {
      published.requests += 1;
      res.end(JSON.stringify({ keys: published.keys }));
    }),
  );
});
after(() => provider.close());

/** Makes a key with this name, and publishes only that one. @returns signs a token with it */
async function publishKey(kid?: string): Promise<(claims?: object) => Promise<string>> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const name = kid === undefined ? {} : { kid };
  published.keys = [{ ...(await exportJWK(publicKey)), ...name }];
  return (claims) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'vera', exp: 2_000_000_000, ...claims })
      .setProtectedHeader({ alg: 'ES256', ...name })
      .sign(privateKey);
}

/** Makes a verifier. `outcome` returns the name in a token, or the message of its refusal. */
function verifierOf() {
  const clock = new HandClock(1_900_000_000_000);
  const verifier = new TokenVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    keysUrl: new URL(provider.url),
    rolesClaim: 'roles',
    clock,
    onAway: (error) => assert.fail(String(error)),
    onBack: () => assert.fail(),
  });
  const outcome = async (token: string) =>
    verifier.verify(token).then(
      ({ name }) => name,
      (error: unknown) => (error instanceof TokenRefusedError ? error.message : error),
    );
  return { clock, outcome, close: () => verifier.close() };
}

for (const kid of ['1', undefined])
  it(`a new key works at once also if it has ${kid === undefined ? 'no name, like' : 'the name of'} the old one`, async () => {
    const { clock, outcome, close } = verifierOf();
    const wrong = 'The access token is not accepted. Its signature is wrong. Nothing was done.';
    const signOld = await publishKey(kid);
    assert.equal(await outcome(await signOld()), 'vera');
    const signNew = await publishKey(kid);
    published.requests = 0;
    assert.equal(await outcome(await signNew()), 'vera');
    assert.deepEqual([await outcome(await signOld()), published.requests], [wrong, 1]);
    const forged = `${(await signNew()).slice(0, -20)}${'A'.repeat(20)}`;
    const all = await Promise.all(Array.from({ length: 100 }, () => outcome(forged)));
    assert.deepEqual([[...new Set(all)], published.requests], [[wrong], 1]);
    clock.jumpTo(clock.now() + 10_000);
    assert.deepEqual([await outcome(forged), published.requests], [wrong, 2]);
    await close();
  });

/** Publishes this many keys without names. @returns signs a token with the one at an index */
async function publishNameless(count: number) {
  const signs: ((claims?: object) => Promise<string>)[] = [];
  const keys: object[] = [];
  for (let index = 0; index < count; index += 1) {
    signs.push(await publishKey());
    keys.push(...published.keys);
  }
  published.keys = keys;
  return async (index: number, claims?: object) => signs[index]?.(claims) ?? '';
}

it('a token that names no key is accepted if one of the first eight keys that fit signed it', async () => {
  const { outcome, close } = verifierOf();
  const sign = await publishNameless(9);
  for (const index of [0, 1, 7]) assert.equal(await outcome(await sign(index)), 'vera');
  assert.match(String(await outcome(await sign(8))), /does not say which key .* signed it \(kid\)/);
  assert.match(String(await outcome(await sign(1, { exp: 1 }))), /It has expired/);
  await close();
});

it('a token that names no key and that none of several signed is accepted as soon as its key is published', async () => {
  const { clock, outcome, close } = verifierOf();
  const sign = await publishNameless(3);
  const all = published.keys;
  published.keys = all.slice(0, 2);
  assert.match(String(await outcome(await sign(2))), /Its signature is wrong/);
  published.keys = all;
  clock.jumpTo(clock.now() + 10_000);
  assert.equal(await outcome(await sign(2)), 'vera');
  await close();
});

it('a token for another audience, and one without any, are refused with different reasons', async () => {
  const { outcome, close } = verifierOf();
  const sign = await publishKey();
  assert.match(String(await outcome(await sign({ aud: 'account' }))), /It is for another audience\./);
  assert.match(
    String(await outcome(await sign({ aud: undefined }))),
    /It names no audience: .* AUTH_AUDIENCE/,
  );
  await close();
});
