import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../sidecar/shared/clock.js';
import { FakeContext } from '../support/cli-context.js';
import { startTestBroker, startTestGateway, stopAll, send } from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { cli, CliProcess, ensureCliBuilt, jsonLines } from '../support/cli-process.js';
import { hour } from '../support/temporal-harness.js';
import { columns } from '../support/columns.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld';

async function brokerWith(count: number, tenant?: string) {
  const broker = await startTestBroker();
  const car = (n: number) => ({
    id: `urn:a:${n}`,
    type: 'A',
    speed: { type: 'Property', value: n, observedAt: hour(n % 24) },
  });
  broker.entities.seed(count, car, tenant);
  broker.temporal.seed(count, car, tenant);
  return broker;
}

it('a purge directly at a broker deletes exactly the matches, without a gateway', async () => {
  const broker = await brokerWith(60);
  const { code, stdout, stderr } = await cli(['purge', 'type=A&q=speed<50', '--yes', '--broker', broker.url]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Deleted 50 entities in \d+/);
  assert.equal(broker.entities.count(), 10);
});

it('a purge directly at a broker sends tenant and @context with every request', async () => {
  const broker = await brokerWith(5, 'city');
  const args = ['purge', 'type=A', '--yes', '--tenant', 'city', '--link', CORE];
  assert.equal((await cli([...args, '--broker', broker.url])).code, 0);
  assert.equal(broker.entities.count('city'), 0);
  for (const { headers } of broker.requests.entries) assert.ok(String(headers.link).startsWith(`<${CORE}>`));
});

it('the command line deletes nothing in a dry run, or if it cannot ask for confirmation', async () => {
  const broker = await brokerWith(8);
  const dry = await cli(['purge', 'type=A', '--dry-run', '--broker', broker.url]);
  assert.deepEqual([dry.code, dry.stdout.split('\n', 1)[0]], [0, 'The query matches 8 entities:']);
  const asked = await cli(['purge', 'type=A', '--broker', broker.url], {}, 'y\n');
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /--yes/);
  assert.equal(broker.entities.count(), 8);
});

it('a purge directly at a broker respects its own bounds and those of the environment', async () => {
  const broker = await brokerWith(8);
  const purge = ['purge', 'type=A', '--yes', '--broker', broker.url];
  assert.equal((await cli([...purge, '--max-affected', '7'])).code, 4);
  const dry = await cli([...purge, '--dry-run', '--max-affected', '7']);
  assert.deepEqual([dry.code, dry.stdout.split('\n', 1)[0]], [4, 'The query matches 8 entities:']);
  assert.equal((await cli([...purge, '--max-affected', '8'], { PURGE_MAX_AFFECTED: '7' })).code, 4);
  assert.equal((await cli(purge, { PURGE_MAX_AFECTED: '7' })).code, 2);
  assert.equal((await cli(['purge', 'local=true', '--yes', '--broker', broker.url])).code, 2);
  assert.equal(broker.entities.count(), 8);
  assert.equal(
    (await cli([...purge, '--max-affected', '8'], { HOST: '0.0.0.0', NODE_ENV: 'production' })).code,
    0,
  );
});

it('a purge that the broker refuses before the first delete exits with 4, directly, through a gateway, and in a dry run', async () => {
  const type = 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant';
  const broker = await startRecordingBroker(() => ({
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type, title: 'No such tenant', detail: 'nix \u001b]0;title\u0007\u001b[31m' }),
  }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  for (const place of [
    ['--broker', broker.url],
    ['--gateway', gateway.url],
  ]) {
    const args = ['purge', 'type=A', '--tenant', 'nix', ...place];
    const done = await cli([...args, '--yes']);
    assert.deepEqual([done.code, done.stdout.split(/[: ]/, 1)[0]], [4, 'Refused'], done.stderr);
    const dry = await cli([...args, '--dry-run']);
    assert.equal(dry.code, 4, dry.stderr);
    assert.match(dry.stderr, /nix \\u001b\]0;title\\u0007\\u001b\[31m/);
    // oxlint-disable-next-line no-control-regex -- they would reach the terminal
    assert.doesNotMatch(done.stdout + done.stderr + dry.stderr, /[\u0007\u001b]/);
    const json = await cli([...args, '--yes', '--json']);
    const [last] = jsonLines(json.stdout).slice(-1) as { problem?: { status?: number } }[];
    assert.deepEqual([json.code, last?.problem?.status], [4, 404]);
  }
});

it('purge --temporal deletes the instances older than a time', async () => {
  const broker = await brokerWith(24);
  const args = ['purge', '--temporal', 'type=A', '--older-than', '1s', '--by', 'speed.observedAt'];
  const dry = await cli([...args, '--dry-run', '--json', '--broker', broker.url]);
  assert.deepEqual(columns(jsonLines(dry.stdout), 'matched', 'unit'), [[24, 'instances']]);
  const { code, stdout } = await cli([...args, '--yes', '--broker', broker.url]);
  assert.deepEqual([code, /^Deleted 24 instances/.test(stdout)], [0, true]);
  assert.equal(broker.entities.count(), 24);
});

it('a purge directly at a broker stops cleanly at Ctrl+C, and reports what it deleted', async () => {
  const broker = await brokerWith(400);
  const args = ['purge', 'type=A', '--yes', '--json', '--rate', '5', '--broker', broker.url];
  const process = await CliProcess.start(args);
  await process.until(/"deleted":[1-9]/);
  process.signal('SIGINT');
  const { code, stdout } = await process.ended;
  const last = jsonLines(stdout).at(-1);
  assert.deepEqual([code, last?.['state']], [130, 'cancelled']);
  assert.equal(last?.['deleted'], 400 - broker.entities.count());
  assert.ok(broker.entities.count() > 0);
});

it('the command line exits with 1 if the broker is unavailable', async () => {
  const env = { RETRY_MAX_ATTEMPTS: '2', RETRY_MIN_DELAY_MS: '0', RETRY_MAX_DELAY_MS: '0' };
  const { code, stdout } = await cli(['purge', 'type=A', '--yes', '--broker', 'http://127.0.0.1:9'], env);
  assert.equal(code, 1);
  assert.match(stdout, /^Failed: .*connection refused/);
});

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

describe(
  'ngsi-ld-gateway on a terminal',
  { skip: hasScript ? false : 'there is no script of util-linux' },
  () => {
    it('on a terminal, a purge shows count and sample, asks, and deletes nothing at Ctrl+C', async () => {
      const broker = await brokerWith(8);
      const process = await CliProcess.onTerminal(['purge', 'type=A', '--broker', broker.url]);
      await process.until(/Delete 8 entities\? \[y\/N\]/);
      process.type('\u0003');
      const { code, stdout } = await process.ended;
      assert.equal(code, 130);
      assert.match(stdout, /The query matches 8 entities:\s+urn:a:0/);
      assert.match(stdout, /Nothing was deleted/);
      assert.equal(broker.entities.count(), 8);
    });

    it('on a terminal, a confirmed purge draws a bar with rate and time left', async () => {
      const broker = await brokerWith(40);
      const args = ['purge', 'type=A', '--rate', '10', '--broker', broker.url];
      const process = await CliProcess.onTerminal(args);
      await process.until(/\[y\/N\]/);
      process.type('y\r');
      const { code, stdout } = await process.ended;
      assert.equal(code, 0);
      assert.match(stdout, /█+·+ \d+\/40 entities {2}\d+(?:\.\d)?\/s {2}[\d.]+ m?s left/);
      assert.match(stdout, /Deleted 40 entities in/);
      assert.equal(broker.entities.count(), 0);
    });
  },
);

it('a confirmed purge directly at a broker deletes nothing if more match than were shown', async () => {
  const broker = await brokerWith(8);
  const context = new FakeContext({ isTerminal: true, clock: systemClock });
  context.onQuestion = (text) => {
    if (!text.includes('Delete 8 entities? [y/N]')) return;
    broker.entities.seed(1, () => ({ id: 'urn:a:late', type: 'A' }));
    context.stdin.write('y\r');
  };
  assert.equal(await context.run('purge', 'type=A', '--broker', broker.url), 4, context.err);
  assert.match(context.out, /matches 9, more than the 8/);
  assert.match(context.err, /Run the command again/);
  assert.equal(broker.entities.count(), 9);
});

it('the command line serves a gateway until it receives a signal', async () => {
  const process = await CliProcess.start(['serve'], { PORT: '0', DATABASE_PATH: ':memory:' });
  await process.until(/NGSI-LD gateway on http:\S+:\d+:/);
  const [, url = ''] = /NGSI-LD gateway on (http:\S+?): /.exec(process.stdout) ?? [];
  assert.equal((await send(url, 'GET', '/health/ready')).status, 200);
  // A task of a worker, whose code is in a separate file.
  const inferred = await send(url, 'POST', '/api/v2/workbench/schema/infer', {
    headers: { 'content-type': 'application/json' },
    body: '[{"a": 1}]',
  });
  assert.equal(inferred.status, 200, inferred.text);
  process.signal('SIGTERM');
  assert.equal((await process.ended).code, 0);
  const refused = await CliProcess.start(['serve'], { PORT: 'x' });
  assert.equal((await refused.ended).code, 2);
});

it('the command line backs up the database of a running gateway, and never overwrites a file', async () => {
  const folder = temporaryFolder();
  const env = { DATABASE_PATH: join(folder, 'a.db') };
  await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9', ...env });
  const target = join(folder, 'b.db');
  assert.equal((await cli(['backup', target], env)).code, 0);
  const again = await cli(['backup', target, '--database', env.DATABASE_PATH]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already exists/);
  assert.equal((await cli(['backup', join(folder, 'c.db'), '--database', ':memory:'])).code, 2);
});

it('every command that needs a SQLite file exits with 2 and the same message if there is none', async () => {
  const env = { DATABASE_PATH: join(temporaryFolder(), 'none.db') };
  const message = `There is no database ${env.DATABASE_PATH}. Run the command in the folder of the gateway, or name its database in DATABASE_PATH.\n`;
  for (const args of [['migrate'], ['backup', 'b.db'], ['copy', '--to', 'postgres://u@127.0.0.1:1/db']]) {
    const { code, stderr } = await cli(args, env);
    assert.deepEqual([code, stderr], [2, message], args.join(' '));
  }
});

it(
  'the command line exits with 1 and a message if its output cannot be written',
  { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' },
  async () => {
    const program = await ensureCliBuilt();
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [program, '--help'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.deepEqual([status, stderr.split('\n').length], [1, 2]);
    assert.match(stderr, /^The output could not be written: ENOSPC/);
  },
);

it('commands refuse --version, which would look like an option of theirs', async () => {
  for (const args of [
    ['models', 'get', 'City/Bike', '--version', '9'],
    ['models', '--version'],
    ['serve', '-V'],
  ])
    assert.equal((await cli(args)).code, 2, args.join(' '));
});

it('the command line has a version and help, and refuses unknown commands and options', async () => {
  assert.match((await cli(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
  const help = await cli(['--help']);
  assert.equal(help.code, 0);
  for (const command of ['serve', 'purge', 'purges', 'validate', 'expand', 'compact', 'infer', 'backup'])
    assert.match(help.stdout, new RegExp(`^ {2}${command}\\b`, 'm'));
  for (const args of [['frob'], ['purge', 'type=A', '--frob'], ['purges', 'frob'], ['validate', 'x.json']])
    assert.equal((await cli(args)).code, 2, args.join(' '));
});
