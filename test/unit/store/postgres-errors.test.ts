import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DatabaseError } from 'pg';
import {
  codeOf,
  isConnectionLost,
  isPermanent,
  messageOf,
  StatementFailure,
  unavailable,
  unusable,
} from '../../../sidecar/store/postgres-errors.js';
import { words } from '../../support/words.js';

const ofDatabase = (code: string) =>
  Object.assign(new DatabaseError(`refused ${code}`, 1, 'error'), { code });
const ofSystem = (code: string, message = `failed ${code}`) => Object.assign(new Error(message), { code });

for (const [kind, codes] of [
  [
    'lost',
    words(`
      08000 08003 08006 57P01 57P02 57P03 57P04 57P05 25P03 25P04 25006 0A000
    `),
  ],
  ['conflict', ['40001', '40P01', '23505', '23P01']],
  ['unstorable', ['22021', '22P05', '22003', '54000', '54001']],
  ['failed', ['57014', '55P03', '23503', '23502', '25P02', '25001', '40002', '42P01', '53100', '53300', '']],
] as const)
  for (const code of codes)
    it(`a statement with the error code "${code}" is ${kind}`, () => {
      const failure = new StatementFailure(ofDatabase(code));
      assert.deepEqual([failure.kind, failure.isBroken], [kind, kind === 'lost']);
    });

it('a statement that failed without an answer of PostgreSQL counts as lost, with its connection', () => {
  for (const error of [new Error('Query read timeout'), ofSystem('ECONNRESET'), 'ended'])
    assert.equal(new StatementFailure(error).kind, 'lost');
});

it('a connection is unusable if its commit got no answer', () => {
  const cause = ofSystem('ECONNRESET');
  const failure = new StatementFailure(cause, 'unknown');
  assert.deepEqual([failure.kind, failure.isBroken, failure.cause], ['unknown', true, cause]);
  assert.equal(new StatementFailure(cause, 'failed').isBroken, false);
});

for (const code of words(`
  28P01 28000 3D000 3F000 42501 ERR_TLS_CERT_ALTNAME_INVALID CERT_HAS_EXPIRED SELF_SIGNED_CERT_IN_CHAIN
  DEPTH_ZERO_SELF_SIGNED_CERT UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE
  ERR_SSL_WRONG_VERSION_NUMBER ERR_OSSL_UNSUPPORTED
`))
  it(`${code} is an error that waiting does not solve`, () => {
    assert.equal(isPermanent(ofSystem(code)), true);
  });

it('a server without encryption is an error that waiting does not solve', () => {
  assert.equal(isPermanent(new Error('The server does not support SSL connections')), true);
});

it('all other errors of a connection may be solved by waiting', () => {
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', '57P03', '53300', '42P01', ''])
    assert.equal(isPermanent(ofSystem(code)), false, code);
  assert.equal(isPermanent(new Error('timeout exceeded when trying to connect')), false);
});

it('an error counts as a cut connection only if the server had accepted the connection', () => {
  for (const code of ['57P01', '57P02', 'ECONNRESET', 'EPIPE'])
    assert.equal(isConnectionLost(ofSystem(code)), true, code);
  assert.equal(isConnectionLost(new Error('Connection terminated unexpectedly')), true);
  for (const code of ['57P03', 'ECONNREFUSED', 'ETIMEDOUT', ''])
    assert.equal(isConnectionLost(ofSystem(code)), false, code);
});

it('clients see the code of an error, but not its message, which may name hosts and users', () => {
  const cause = ofSystem('ECONNREFUSED', 'connect ECONNREFUSED 10.1.2.3 for user ada');
  const error = unavailable('The database cannot be reached', cause);
  assert.equal(error.message, 'The database cannot be reached (ECONNREFUSED).');
  assert.equal(error.cause, cause);
  assert.equal(unavailable('It failed', new Error('secret')).message, 'It failed.');
});

it('the operator sees the message and the code of an error, and the database without credentials', () => {
  const cause = ofSystem('28P01', 'password authentication failed');
  const error = unusable('postgres://db/x', cause);
  assert.equal(
    error.message,
    'postgres://db/x cannot be used as a database: password authentication failed (28P01).',
  );
  assert.equal(error.cause, cause);
  assert.match(unusable('postgres://db/x', new Error('no key')).message, /: no key\.$/);
});

it('the error of a name with several addresses is that of the first address', () => {
  const error = new AggregateError([ofSystem('ECONNREFUSED', 'first'), ofSystem('EACCES', 'second')], '');
  assert.deepEqual([codeOf(error), messageOf(error)], ['ECONNREFUSED', 'first']);
  assert.deepEqual([codeOf('text'), messageOf('text')], ['', 'text']);
});
