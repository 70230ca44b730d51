import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  startTestBroker,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { FakeContext } from '../support/cli-context.js';
import { cli, CliProcess, jsonLines } from '../support/cli-process.js';
import { startAnswering } from '../support/stub-gateway.js';
import { freePort } from '../support/free-port.js';
import { listening } from '../support/listening.js';
import { untilTrue } from '../support/waiting.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const PURGE = ['purge', 'type=A&q=speed<600', '--yes'];

it('the command line exits with 1 if the gateway is unavailable, and says whether the purge may have been started', async () => {
  const cut = await cli([...PURGE, '--gateway', await startAnswering(() => 'reset')]);
  assert.equal(cut.code, 1);
  assert.match(cut.stderr, /may still have been started/);
  const away = await cli([...PURGE, '--gateway', 'http://127.0.0.1:9']);
  assert.equal(away.code, 1);
  assert.match(away.stderr, /cannot be reached/);
  assert.doesNotMatch(away.stderr, /may still have been started/);
  const refused = await cli([...PURGE, '--gateway', `http://127.0.0.1:${await freePort()}`]);
  assert.match(refused.stderr, /cannot be reached: connection refused/);
  assert.doesNotMatch(refused.stderr, /may still have been started/);
});

it(
  'a proxy that refuses to connect is named, and nothing is said to have arrived',
  { skip: process.allowedNodeEnvironmentFlags.has('--use-env-proxy') ? false : 'needs Node.js 22.21' },
  async () => {
    const proxy = createServer();
    proxy.on('connect', (_request, socket) =>
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    );
    const { url, close } = await listening(proxy);
    stopLater(close);
    const env = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: url };
    const purge = await CliProcess.start([...PURGE, '--gateway', 'https://gateway.example'], env);
    const { code, stderr } = await purge.ended;
    assert.equal(code, 1);
    assert.match(stderr, /cannot be reached: the proxy answered 407 instead of connecting to it\./);
    assert.match(stderr, /HTTPS_PROXY may be at fault/);
    assert.doesNotMatch(stderr, /may still have been started/);
  },
);

async function withCars(count: number) {
  const broker = await startTestBroker();
  broker.entities.seed(count, (n) => ({ id: `urn:a:${n}`, type: 'A' }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-cli' });
  const env = { NGSILD_GATEWAY_URL: gateway.url, NGSILD_GATEWAY_TOKEN: 'token-of-cli' };
  return { broker, env };
}

it('a purge through a gateway runs to its end, and its record can be read afterwards', async () => {
  const { broker, env } = await withCars(60);
  const { code, stdout } = await cli(['purge', 'type=A', '--yes', '--json'], env);
  assert.equal(code, 0);
  const last = jsonLines(stdout).at(-1);
  assert.deepEqual([last?.['state'], last?.['deleted'], broker.entities.count()], ['succeeded', 60, 0]);
  const [listed] = jsonLines((await cli(['purges', 'list', '--json'], env)).stdout);
  const found = ['--since', '2026-01-01', '--query', 'TYPE=', '--type', 'A', '--json'];
  assert.deepEqual(jsonLines((await cli(['purges', 'list', ...found], env)).stdout), [listed]);
  assert.equal((await cli(['purges', 'list', '--until', '2026-01-01', '--json'], env)).stdout, '');
  assert.equal(listed?.['id'], last?.['id']);
  const shown = await cli(['purges', 'show', String(last?.['id'])], env);
  assert.match(shown.stdout, /^deleted +60$/m);
  const followed = await cli(['purges', 'follow', String(last?.['id'])], env);
  assert.deepEqual([followed.code, /^Deleted 60 entities/.test(followed.stdout)], [0, true]);
});

it('a detached purge can be throttled, followed and cancelled, and its counts are correct', async () => {
  const { broker, env } = await withCars(2000);
  const started = await cli(['purge', 'type=A', '--yes', '--json', '--detach', '--rate', '5'], env);
  const id = String(jsonLines(started.stdout)[0]?.['id']);
  const changed = await cli(['purges', 'throttle', id, '10', '--json'], env);
  assert.equal(jsonLines(changed.stdout)[0]?.['maxPerSecond'], 10);
  const context = new FakeContext({ env, clock: systemClock });
  const followed = context.run('purges', 'follow', id, '--json');
  await untilTrue(() => /"deleted":[1-9]/.test(context.out));
  const cancelled = await cli(['purges', 'cancel', id, '--json'], env);
  assert.equal(cancelled.code, 0);
  assert.equal(await followed, 1);
  const last = jsonLines(context.out).at(-1);
  assert.deepEqual([last?.['state'], last?.['deleted']], ['cancelled', 2000 - broker.entities.count()]);
  assert.ok(broker.entities.count() > 0);
});

describe('the commands for files', () => {
  let gateway: TestGateway;
  let folder: string;
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  before(async () => {
    folder = temporaryFolder();
    const broker = await startTestBroker();
    broker.entities.seed(7, (n) => ({ id: `urn:a:${n}`, type: 'A' }));
    gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-cli' });
    const post = async (path: string, body: unknown) =>
      gateway.sendJson('POST', `/api/v2${path}`, body, { 'x-gateway-token': 'token-of-cli' });
    await post('/domains', { name: 'City' });
    const schema = { type: 'object', properties: { speed: { type: 'number' } } };
    assert.equal((await post('/domains/City/models', { name: 'Car', schema })).status, 201);
  });

  const on = (...args: string[]) =>
    cli(args, { NGSILD_GATEWAY_URL: gateway.url, NGSILD_GATEWAY_TOKEN: 'token-of-cli' });

  it('a dry run through a gateway counts the matches and deletes nothing', async () => {
    const { code, stdout } = await on('purge', 'type=A', '--dry-run');
    assert.equal(code, 0);
    assert.match(stdout, /^The query matches 7 entities:\n {2}urn:a:0\n[^]*… 2 more\n$/);
    const documents = jsonLines((await on('purge', 'type=A', '--dry-run', '--json')).stdout);
    assert.deepEqual([documents.length, documents[0]?.['matched']], [1, 7]);
    assert.match((await on('purge', 'type=Nothing', '--dry-run')).stdout, /^Nothing matches\./);
    const withoutToken = await cli(['purge', 'type=A', '--dry-run'], { NGSILD_GATEWAY_URL: gateway.url });
    assert.equal(withoutToken.code, 4);
    assert.match(withoutToken.stderr, /NGSILD_GATEWAY_TOKEN/);
  });

  it('validate prints each fault with its place, and exits with 3', async () => {
    const good = { id: 'urn:a:1', type: 'Car', speed: 5 };
    const bad = { ...good, speed: 'fast' };
    const model = ['--model', 'City/Car'];
    assert.equal((await on('validate', file('good.json', good), ...model)).code, 0);
    const one = await on('validate', file('bad.json', bad), ...model);
    assert.equal(one.code, 3);
    assert.match(one.stdout, /bad\.json: not valid\n {2}\/speed, line 1: /);
    const both = await on('validate', file('both.json', [good, bad]), ...model);
    assert.equal(both.code, 3);
    assert.match(both.stdout, /both\.json\[1\]: not valid[^]*1 valid, 1 not valid\n$/);
    const asJson = await on('validate', file('bad.json', bad), ...model, '--json');
    assert.equal((JSON.parse(asJson.stdout) as { valid: boolean }).valid, false);
    assert.equal((await on('validate', file('x.json', good), '--model', 'City/Bus')).code, 4);
    assert.equal((await on('validate', file('x.json', good), '--model', 'Car')).code, 2);
    assert.equal((await on('validate', join(folder, 'none.json'), ...model)).code, 2);
  });

  it('expand and compact accept a context from a file', async () => {
    const context = file('context.jsonld', { '@context': { speed: 'https://city.test/speed' } });
    const document = file('document.json', { '@id': 'urn:a:1', speed: 5 });
    const expanded = await on('expand', document, '--context', context);
    assert.equal(expanded.code, 0, expanded.stderr);
    assert.deepEqual(JSON.parse(expanded.stdout), [
      { '@id': 'urn:a:1', 'https://city.test/speed': [{ '@value': 5 }] },
    ]);
    const compacted = await on('compact', file('expanded.json', expanded.stdout), '--context', context);
    assert.equal((JSON.parse(compacted.stdout) as { speed: number }).speed, 5);
    assert.equal((await on('expand', file('broken.json', '{'), '--context', context)).code, 2);
  });

  it('infer gives the same schema locally and through a gateway, from a file and from standard input', async () => {
    const samples = [{ name: 'a', speed: 5 }, { name: 'b' }];
    const path = file('samples.json', samples);
    const there = await on('infer', path, '--model', 'Car');
    const here = await cli(['infer', path, '--model', 'Car']);
    const piped = await cli(['infer', '-', '--model', 'Car', '--json'], {}, JSON.stringify(samples));
    assert.deepEqual([there.code, here.code, piped.code], [0, 0, 0], here.stderr + there.stderr);
    assert.equal(here.stdout, there.stdout);
    assert.deepEqual(JSON.parse(piped.stdout), JSON.parse(here.stdout));
    assert.equal((await cli(['infer', file('broken.json', '[{')])).code, 2);
    assert.equal((await cli(['infer', path, '--form', 'xml'])).code, 2);
  });
});
