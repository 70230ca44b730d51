import assert from 'node:assert/strict';
import { it } from 'node:test';
import { callerHeaders, callerOf } from '../../../kong-plugins/ngsi-ld-purge/caller.js';
import { words } from '../../support/words.js';

/** Credentials as Kong's own authentication plugins store them, secrets included. */
const credentials = {
  'key-auth': { id: 'id-1', key: 'secret', consumer: { id: 'c' } },
  'basic-auth': { id: 'id-1', username: 'alice', password: 'secret', consumer: { id: 'c' } },
  'hmac-auth': { id: 'id-1', username: 'alice', secret: 'secret', consumer: { id: 'c' } },
  'ldap-auth': { id: 'alice', username: 'alice', password: 'secret' },
  jwt: { id: 'id-1', key: 'issuer', secret: 'secret', algorithm: 'HS256', consumer: { id: 'c' } },
  oauth2: { id: 'id-1', name: 'app', client_id: 'app-1', client_secret: 'secret', consumer: { id: 'c' } },
};

it('the caller is unknown if no authentication plugin has run', () => {
  assert.deepEqual(callerOf(undefined, undefined), {});
  assert.deepEqual(callerOf(null, null), {});
});

it('the caller is a consumer, with all its names that are set', () => {
  assert.deepEqual(callerOf({ id: 'c', username: 'alice', custom_id: null }, credentials['key-auth']), {
    'X-Consumer-ID': 'c',
    'X-Consumer-Username': 'alice',
    'X-Credential-Identifier': 'id-1',
  });
});

it('the caller is marked anonymous if a consumer replaces a missing credential', () => {
  assert.deepEqual(callerOf({ id: 'c', custom_id: 'guest' }, undefined), {
    'X-Consumer-ID': 'c',
    'X-Consumer-Custom-ID': 'guest',
    'X-Anonymous-Consumer': 'true',
  });
});

it('the caller is named by the public name of its credential, and never by a secret', () => {
  const named = Object.entries(credentials).map(([plugin, credential]) => [
    plugin,
    callerOf(undefined, credential)['X-Credential-Identifier'],
  ]);
  assert.deepEqual(Object.fromEntries(named), {
    'key-auth': 'id-1',
    'basic-auth': 'alice',
    'hmac-auth': 'alice',
    'ldap-auth': 'alice',
    jwt: 'id-1',
    oauth2: 'app-1',
  });
});

it('every header of the caller is first removed from the client’s request', () => {
  const caller = callerOf({ id: 'c', username: 'u', custom_id: 'x' }, { id: 'k' });
  for (const name of Object.keys(caller)) assert.ok((callerHeaders as readonly string[]).includes(name));
  // All headers that Kong's own plugins set, and all that the sidecar may trust.
  assert.deepEqual(
    [...callerHeaders].sort(),
    words(`
      X-Anonymous-Consumer X-Authenticated-Groups X-Authenticated-Scope X-Authenticated-UserId
      X-Consumer-Custom-ID X-Consumer-Groups X-Consumer-ID X-Consumer-Username X-Credential-Identifier
    `),
  );
});

it('a caller whose name cannot be sent unchanged is refused', () => {
  for (const username of ['a\nb', 'a\0', '\x7f', 7, {}, ['a']])
    assert.throws(() => callerOf({ username }, undefined), TypeError);
  assert.equal(callerOf({ username: 'Zoë' }, undefined)['X-Consumer-Username'], 'Zoë');
});
