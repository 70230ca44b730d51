import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import { createDatabase, PostgresServer, type TestDatabase } from '../support/postgres.js';
import { ROOT } from '../support/project.js';
import { handClock } from '../support/store-samples.js';

const AUTHORITY = join(ROOT, 'test/support/certificates/authority.pem');

describe('a store on a PostgreSQL whose certificate is that of localhost', { timeout: 300_000 }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let stores = 0;
  before(async () => {
    server = await PostgresServer.start('tls');
    database = await createDatabase(server.url);
  });
  after(() => server.close());

  /** Opens a store and reports whether its connection is encrypted. */
  async function isEncrypted(host: string, parameters: Readonly<Record<string, string>>): Promise<boolean> {
    const url = new URL(database.url);
    const name = `store ${String((stores += 1))}`;
    url.hostname = host;
    url.searchParams.set('application_name', name);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const store = await PostgresStore.open(url.href, { clock: handClock() });
    try {
      assert.equal(await store.isReady(), true);
      const rows = await database.query<{ ssl: boolean }>(`
        SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = '${name}'`);
      assert.equal(rows.length, 1);
      return rows[0]?.ssl === true;
    } finally {
      await store.close();
    }
  }

  const refused = { name: 'DatabaseUnusableError', message: /certificate|altname/i };

  it('with verify-full, the connection to PostgreSQL is encrypted, and certificate and host name are checked', async () => {
    const known = { sslmode: 'verify-full', sslrootcert: AUTHORITY };
    assert.equal(await isEncrypted('localhost', known), true);
    await assert.rejects(isEncrypted('127.0.0.1', known), refused);
    await assert.rejects(isEncrypted('localhost', { sslmode: 'verify-full' }), refused);
  });

  it('with verify-ca, the certificate of PostgreSQL is checked but not the host name', async () => {
    assert.equal(await isEncrypted('127.0.0.1', { sslmode: 'verify-ca', sslrootcert: AUTHORITY }), true);
  });

  it('with require, the connection to PostgreSQL is encrypted; the certificate is checked only if an authority is given', async () => {
    assert.equal(await isEncrypted('127.0.0.1', { sslmode: 'require' }), true);
    assert.equal(await isEncrypted('127.0.0.1', { sslmode: 'require', sslrootcert: AUTHORITY }), true);
  });

  it('with disable or without sslmode, the connection to PostgreSQL is not encrypted', async () => {
    assert.equal(await isEncrypted('localhost', { sslmode: 'disable' }), false);
    assert.equal(await isEncrypted('localhost', {}), false);
  });
});
