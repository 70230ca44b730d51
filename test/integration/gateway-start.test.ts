import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { isMistake, startErrorLines } from '../../sidecar/start-error.js';
import { send, startTestBroker, startTestGateway, stopAll, stopLater } from '../support/gateway-harness.js';
import { COMPILE_CACHE, ensureBuilt } from '../support/built.js';
import { freePort } from '../support/free-port.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

/** A line of a stack trace. */
const STACK = /^\s+at /m;

it('a start without BROKER_URL prints the embedded broker, the URL, and two curl commands that work as printed', async () => {
  const gateway = await GatewayProcess.start({ PORT: '0' });
  const url = await gateway.url();
  assert.match(url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const [, dryRun = ''] = await gateway.until(/^ {2}curl '([^']+)'$/m);
  const [, purge = ''] = await gateway.until(/^ {2}curl -i -X DELETE '([^']+)'$/m);
  assert.match(gateway.stdout, /^Broker: embedded, in memory, with [1-9]\d* sample entities.*BROKER_URL/m);
  const [, page = ''] = await gateway.until(/^In a browser: (\S+)/m);
  for (const printed of [dryRun, purge, page]) assert.ok(printed.startsWith(url), printed);
  assert.match((await send('', 'GET', page)).text, /^<!doctype html>/i);

  const shown = (await send('', 'GET', dryRun)).json() as readonly unknown[];
  assert.ok(shown.length > 0);
  const purged = await send('', 'DELETE', purge);
  assert.equal(purged.status, 204);
  assert.equal(purged.headers.get('purge-deleted'), String(shown.length));
  assert.deepEqual((await send('', 'GET', dryRun)).json(), []);
  const rest = (await send(url, 'GET', '/ngsi-ld/v1/entities?local=true')).json() as readonly unknown[];
  assert.ok(rest.length > 0, 'the others are kept');
});

it('a start with a broker prints its URL, and the first of two tokens as a variable; CONSOLE=off does not print the console', async () => {
  const broker = await startTestBroker();
  const gateway = await GatewayProcess.start({
    PORT: '0',
    BROKER_URL: broker.url,
    GATEWAY_TOKEN: 'start-secret-2,start-secret-1',
    CONSOLE: 'off',
  });
  const url = await gateway.url();
  await gateway.until(/curl -X DELETE -H "X-Gateway-Token: \$\{GATEWAY_TOKEN%%,\*\}"/);
  await gateway.until(/^Schemas, models and contexts: /m);
  assert.doesNotMatch(gateway.stdout, /console/);
  await gateway.until(new RegExp(`^Broker: ${broker.url}$`, 'm'));
  assert.equal((await send(url, 'GET', '/health/ready')).status, 200);
  assert.doesNotMatch(gateway.stdout, /start-secret/);
});

it('a start in production prints nothing but log lines', async () => {
  const broker = await startTestBroker();
  const env = { PORT: '0', NODE_ENV: 'production', BROKER_URL: broker.url };
  const gateway = await GatewayProcess.start(env);
  await gateway.until(/"msg":"listening"/);
  for (const line of gateway.stdout.trimEnd().split('\n')) JSON.parse(line);
});

it('a start with invalid settings names each on stderr, never shows a token, and exits with 2', async () => {
  const gateway = await GatewayProcess.start({
    PORT: 'eighty',
    PURGE_CONCURRENCY: '0',
    BROKER_URL: 'ftp://b',
    LOG_LEVEL: 'loud',
    PURGE_MAX_AFECTED: '10',
    RETRY_FOREVER: '1',
    GATEWAY_TOKEN: 'has blanks in it',
  });
  assert.deepEqual(await gateway.ended, { code: 2, signal: null });
  for (const pattern of [
    /PORT .*whole number/,
    /PURGE_CONCURRENCY/,
    /BROKER_URL/,
    /LOG_LEVEL.*info/,
    /GATEWAY_TOKEN/,
    /PURGE_MAX_AFECTED.*did you mean PURGE_MAX_AFFECTED/,
    /RETRY_FOREVER/,
    /docs\/config\.md/,
  ])
    assert.match(gateway.stderr, pattern);
  assert.doesNotMatch(gateway.stderr, STACK);
  assert.ok(!gateway.stderr.includes('has blanks'));
  assert.equal(gateway.stdout, '');
});

it('a start on a port in use prints the remedy and exits with 1', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  stopLater(async () => void other.close());
  const { port } = other.address() as AddressInfo;
  const gateway = await GatewayProcess.start({ PORT: String(port) });
  assert.deepEqual(await gateway.ended, { code: 1, signal: null });
  assert.match(gateway.stderr, new RegExp(`^Cannot listen on 127\\.0\\.0\\.1 port ${port}: .*PORT.*\n$`));
  assert.doesNotMatch(gateway.stdout, /NGSI-LD gateway on/);
});

it('a start on an address that this machine does not have is a mistake of the configuration, and says so', async () => {
  const address = { HOST: '192.0.2.1', GATEWAY_OPEN: 'true', BROKER_URL: 'http://127.0.0.1:9' };
  await assert.rejects(startTestGateway(address), (error) => {
    assert.match(startErrorLines(error).join(), /^Cannot listen on 192\.0\.2\.1.*HOST/);
    return isMistake(error);
  });
});

it('a second gateway on the same SQLite file is refused, and the file is free again once the first one is killed', async () => {
  const env = { PORT: '0', DATABASE_PATH: join(temporaryFolder(), 'schema.db') };
  const first = await GatewayProcess.start(env);
  await first.url();
  await assert.rejects(startTestGateway({ ...env, BROKER_URL: 'embedded' }), (error) => {
    const lines = startErrorLines(error).join();
    assert.match(lines, /^DATABASE_PATH: .*schema\.db is in use by another gateway\..*DATABASE_URL/);
    return isMistake(error);
  });
  process.kill(first.pid, 'SIGKILL');
  await first.ended;
  await startTestGateway({ ...env, BROKER_URL: 'embedded' });
});

it('a gateway whose log nobody reads answers and stops as usual', async () => {
  const { url, child, ended } = await startWithLog('pipe');
  await logMuch(url);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

it('a gateway whose terminal takes no output, as after Ctrl+S, answers and stops as usual', async (test) => {
  if (spawnSync('script', ['--version']).status !== 0) {
    test.skip('the system has no script(1), which runs a command on a terminal');
    return;
  }
  const folder = temporaryFolder();
  const [pid, code] = ['pid', 'code'].map((name) => join(folder, name)) as [string, string];
  const command = `'${process.execPath}' dist/sidecar/main.js & echo $! > ${pid}; wait $!; echo $? > ${code}`;
  const { url } = await startWithLog('pipe', {}, ['script', '-qc', command, '/dev/null']);
  await logMuch(url);
  process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM');
  await untilTrue(() => existsSync(code) && readFileSync(code, 'utf8') === '0\n');
});

/** Sends purges whose lines in the log are more than a pipe holds: each logs its query twice. */
async function logMuch(url: string): Promise<void> {
  for (let count = 1; count <= 20; count += 1) {
    const query = `type=Nothing&q=name=="${'x'.repeat(7000)}"`;
    const answer = await fetch(`${url}/ngsi-ld/v1/entities?${query}`, { method: 'DELETE' });
    assert.equal(answer.status, 204);
  }
}

it('a gateway whose log cannot be written, because the disk is full, answers and stops as usual', async (test) => {
  if (!existsSync('/dev/full')) {
    test.skip('the system has no /dev/full');
    return;
  }
  const full = openSync('/dev/full', 'w');
  const { url, child, ended } = await startWithLog(full, { LOG_LEVEL: 'debug' });
  closeSync(full);
  for (let count = 1; count <= 3; count += 1) {
    const answer = await fetch(`${url}/ngsi-ld/v1/entities?type=Nothing`, { method: 'DELETE' });
    assert.equal(answer.status, 204);
  }
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

/** Starts the built gateway with another standard output: a file, or a pipe that nobody reads. */
async function startWithLog(
  log: number | 'pipe',
  env: Readonly<Record<string, string>> = {},
  [program, ...words]: readonly [string, ...string[]] = [process.execPath, 'dist/sidecar/main.js'],
) {
  await ensureBuilt();
  const port = await freePort();
  const child = spawn(program, words, {
    env: {
      PATH: process.env['PATH'],
      ...COMPILE_CACHE,
      PORT: String(port),
      BROKER_URL: 'embedded',
      DATABASE_PATH: ':memory:',
      ...env,
    },
    stdio: ['ignore', log, 'inherit'],
  });
  child.stdout?.pause();
  const ended = once(child, 'exit');
  stopLater(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await untilUp(url);
  return { url, child, ended };
}

async function untilUp(url: string): Promise<void> {
  await untilTrue(() =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
}
