import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { SignInUnavailableError } from '../../../sidecar/auth/index.js';
import { ProviderKeys } from '../../../sidecar/auth/provider-keys.js';
import { HandClock } from '../../support/hand-clock.js';
import { Gate } from '../../support/recording-broker.js';

const keys: Record<string, JWK> = {};
before(async () => {
  for (const kid of ['a', 'b']) {
    const { publicKey } = await generateKeyPair('ES256');
    keys[kid] = { ...(await exportJWK(publicKey)), kid };
  }
});

/** Keys of a provider with the given state, and the number of requests to that provider. */
function keysOf(...published: readonly string[]) {
  const clock = new HandClock(1_000_000);
  const state = {
    published,
    asked: 0,
    isAway: false,
    news: [] as string[],
    gate: undefined as Gate | undefined,
  };
  const provider = new ProviderKeys({
    fetchKeys: async () => {
      state.asked += 1;
      await state.gate?.passed;
      if (state.isAway) throw new Error('away');
      return { keys: state.published.map((kid) => keys[kid]) };
    },
    clock,
    onAway: () => state.news.push('away'),
    onBack: () => state.news.push('back'),
  });
  /** @returns the outcome in a word */
  const find = async (kid: string): Promise<string> => {
    try {
      await provider.findKey({ alg: 'ES256', kid }, { payload: '', signature: '' });
      return 'found';
    } catch (error) {
      return error instanceof SignInUnavailableError ? `503 after ${error.retryAfter}` : 'unknown';
    }
  };
  return { state, clock, find, provider };
}

it('keys are read once, and again after ten minutes of use', async () => {
  const { state, clock, find } = keysOf('a');
  assert.deepEqual([await find('a'), await find('a'), state.asked], ['found', 'found', 1]);
  clock.jumpTo(clock.now() + 599_999);
  assert.deepEqual([await find('a'), state.asked], ['found', 1]);
  clock.jumpTo(clock.now() + 1);
  assert.deepEqual([await find('a'), state.asked], ['found', 2]);
});

it('a key that the provider withdraws is refused after ten minutes', async () => {
  const { state, clock, find } = keysOf('a', 'b');
  assert.equal(await find('b'), 'found');
  state.published = ['a'];
  clock.jumpTo(clock.now() + 600_000);
  assert.deepEqual([await find('b'), await find('a')], ['unknown', 'found']);
});

it('the first unknown key makes the keys be read again at once, so that a new key is found', async () => {
  const { state, find } = keysOf('a');
  assert.equal(await find('a'), 'found');
  state.published = ['b'];
  assert.deepEqual([await find('b'), state.asked], ['found', 2]);
});

it('thousands of unknown keys cause one request to the provider in ten seconds', async () => {
  const { state, clock, find } = keysOf('a');
  await find('a');
  const ends = await Promise.all(Array.from({ length: 3000 }, (_, number) => find(`x${number}`)));
  assert.deepEqual([[...new Set(ends)], state.asked], [['unknown'], 2]);
  clock.jumpTo(clock.now() + 9_999);
  assert.deepEqual([await find('b'), state.asked], ['unknown', 2]);
  state.published = ['a', 'b'];
  clock.jumpTo(clock.now() + 1);
  assert.deepEqual([await find('b'), state.asked], ['found', 3]);
});

it('a lookup waits for keys that are being read', async () => {
  const { state, find } = keysOf('a');
  await find('a');
  const gate = new Gate();
  Object.assign(state, { gate, published: ['a', 'b'] });
  const ends = [find('x'), find('b')];
  gate.open();
  assert.deepEqual([await Promise.all(ends), state.asked], [['unknown', 'found'], 2]);
});

it('while the provider is unavailable, known keys stay valid and unknown keys get 503', async () => {
  const { state, clock, find } = keysOf('a');
  await find('a');
  state.isAway = true;
  assert.equal(await find('b'), '503 after 10');
  clock.jumpTo(clock.now() + 4_500);
  assert.deepEqual([await find('b'), state.asked], ['503 after 6', 2]);
  clock.jumpTo(clock.now() + 7 * 86_400_000);
  assert.equal(await find('a'), 'found');
  await clock.runUntil(clock.now());
  assert.deepEqual([state.asked, state.news], [3, ['away']]);
  state.isAway = false;
  clock.jumpTo(clock.now() + 10_000);
  assert.deepEqual([await find('b'), state.news], ['unknown', ['away', 'back']]);
});

it('a provider that is unavailable at startup is asked every ten seconds at most, and nobody can sign in until it answers', async () => {
  const { state, clock, find, provider } = keysOf('a');
  state.isAway = true;
  provider.prefetch();
  await clock.runUntil(clock.now());
  const ends = await Promise.all(Array.from({ length: 100 }, () => find('a')));
  assert.deepEqual([[...new Set(ends)], state.asked], [['503 after 10'], 1]);
  state.isAway = false;
  assert.equal(await find('a'), '503 after 10');
  clock.jumpTo(clock.now() + 10_000);
  assert.deepEqual([await find('a'), state.asked], ['found', 2]);
});

it('an answer that is not a key set leaves the keys unchanged', async () => {
  const { state, find } = keysOf('a');
  await find('a');
  state.published = undefined as unknown as string[];
  assert.equal(await find('b'), '503 after 10');
  assert.equal(await find('a'), 'found');
});

it('keys are still read after the clock was set back', async () => {
  const { state, clock, find } = keysOf('a');
  await find('a');
  await find('x');
  clock.set(-1_000_000);
  await clock.pass(10_000);
  state.published = ['b'];
  assert.deepEqual([await find('b'), state.asked], ['found', 3]);
});
