import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContextFollowers, MAX_FOLLOWERS_MS } from '../../../../sidecar/schemas/models/context-followers.js';

const NAMES = Array.from({ length: 20 }, (_, index) => `f${index}`);
const CHANGE = { name: 'base', before: '{}', after: '{}' };
const BASE_URL = 'http://gateway.example';

/** Twenty contexts follow another one. @param onTask is called when a worker is to process one of them */
function followersOf(onTask: () => void, now: () => number) {
  const items = NAMES.map((name) => ({ kind: 'context', name, version: 1 }));
  const contexts = {
    dependents: async (name: string) =>
      name === 'base' ? { items, total: items.length } : { items: [], total: 0 },
    get: async (name: string) => ({ context: { etag: name } }),
  };
  const termsOf = async () => {
    onTask();
    return Promise.resolve({ terms: [], defaults: {} });
  };
  const parts = {
    ...{ store: { contexts }, contextSupply: { termsOf }, clock: { now } },
    comparison: { byContexts: () => assert.fail('no model follows') },
  };
  return new ContextFollowers(parts as unknown as ConstructorParameters<typeof ContextFollowers>[0]);
}

describe('the look at the followers of a context', () => {
  it('the look at followers ends after a fixed time, and counts those that are left', async () => {
    let time = 0;
    const followers = followersOf(
      () => (time += MAX_FOLLOWERS_MS / 7.5),
      () => time,
    );
    const { uncompared, broken } = await followers.effect(CHANGE, { baseUrl: BASE_URL });
    assert.deepEqual([uncompared, broken], [NAMES.length - 8, []]);
  });

  it('the look at followers ends with the few that are looked at when the client leaves', async () => {
    const leaving = new AbortController();
    let tasks = 0;
    const followers = followersOf(
      () => {
        tasks += 1;
        leaving.abort(new Error('gone'));
      },
      () => 0,
    );
    const { signal } = leaving;
    await assert.rejects(followers.effect(CHANGE, { baseUrl: BASE_URL, signal }), /gone/);
    assert.ok(tasks < NAMES.length, String(tasks));
  });
});
