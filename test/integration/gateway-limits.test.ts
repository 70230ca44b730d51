import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { send, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import {
  Gate,
  isDelete,
  relayTo,
  startRecordingBroker,
  type RecordingBroker,
} from '../support/recording-broker.js';
import { untilTrue, Waiting } from '../support/waiting.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const MB = 1024 * 1024;
const ENTITIES = '/ngsi-ld/v1/entities';
const REFERENCE = '/api/v2/references?uri=https://a.example/x';

async function start(env: Readonly<Record<string, string>>) {
  const gateway = await GatewayProcess.start({ PORT: '0', LOG_LEVEL: 'silent', ...env });
  const url = await gateway.url();
  return { gateway, url, isAlive: async () => (await send(url, 'GET', '/health/live')).status === 200 };
}

const json = (text: string) => ({ body: text, headers: { 'content-type': 'application/json' } });

it('of two hundred purges at once, sixteen run and the others are refused at once, in bounded memory', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(1000, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const relay = relayTo(broker);
  const gate = new Gate();
  const claiming = await startRecordingBroker(async (request) => {
    // The first page is answered at once; later requests wait.
    if (isDelete(request) || request.url.includes('offset=')) await gate.passed;
    const answer = await relay(request);
    const isEmpty = answer.body === '[]';
    const count = isEmpty ? {} : { 'ngsild-results-count': '1000000' };
    return { ...answer, headers: { ...answer.headers, ...count } };
  });
  const { gateway, url, isAlive } = await start({ BROKER_URL: claiming.url });
  const gone = new AbortController();
  const answers: string[] = [];
  const waiting = new Waiting();
  const purges = Array.from({ length: 200 }, async () => {
    const purge = send(url, 'DELETE', `${ENTITIES}?type=Car`, { signal: gone.signal });
    const { status, headers } = await purge;
    answers.push(`${status}, again after ${headers.get('retry-after')} s`);
    waiting.notify();
  });
  const ended = Promise.allSettled(purges);
  await waiting.until(() => (answers.length >= 184 ? true : undefined));
  assert.deepEqual([...new Set(answers)], ['503, again after 5 s']);
  assert.equal((await send(url, 'DELETE', `${ENTITIES}?type=Bus&dryRun=true`)).status, 200);
  assert.ok(await isAlive());
  gone.abort();
  gate.open();
  await ended;
  assert.equal(answers.length, 184);
  assert.ok((gateway.peakMemoryBytes() ?? 0) < 600 * MB);
});

it('a gateway answers while another connection locks its database, reports the lock, and writes when the lock is released', async () => {
  const DATABASE_PATH = join(temporaryFolder(), 'schema.db');
  const broker = await startRecordingBroker();
  const { url } = await startTestGateway({ DATABASE_PATH, BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
  const isAlive = async () => (await send(url, 'GET', '/health/live')).status === 200;
  const readiness = async () => (await send(url, 'GET', '/health/ready')).json();
  const isReady = (database: string) =>
    untilTrue(async () => JSON.stringify(await readiness()).includes(`"database":"${database}"`));
  await isReady('up');
  const other = new Database(DATABASE_PATH);
  other.exec('BEGIN IMMEDIATE');
  const writes = Array.from({ length: 20 }, async (_, index) =>
    send(url, 'POST', '/api/v2/domains', json(`{"name":"D${index}"}`)),
  );
  assert.equal(await Promise.race([isAlive(), ...writes]), true, 'they wait, and nothing waits for them');
  assert.equal((await send(url, 'GET', '/api/v2/domains')).status, 200, 'reads go on');
  assert.equal((await send(url, 'DELETE', `${ENTITIES}?type=Car`)).status, 204, 'purges go on');
  for (const { status, headers } of await Promise.all(writes))
    assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
  await isReady('down');
  other.exec('ROLLBACK');
  other.close();
  assert.equal((await send(url, 'POST', '/api/v2/domains', json('{"name":"Late"}'))).status, 201);
  await isReady('up');
});

describe('what is too costly', () => {
  let broker: RecordingBroker;
  let gateway: GatewayProcess;
  let url: string;
  let isAlive: () => Promise<boolean>;

  before(async () => {
    const body = `[${'[[]],'.repeat(3 * MB)}1]`;
    broker = await startRecordingBroker(() => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'ngsild-results-count': '1000' },
      body,
    }));
    ({ gateway, url, isAlive } = await start({ BROKER_URL: broker.url }));
  });

  it('patterns that take long to compile are refused before they are compiled or sent', async () => {
    const pattern = encodeURIComponent('a{0,1000}'.repeat(100));
    for (const dryRun of ['', '&dryRun=true']) {
      const refused = await Promise.all(
        Array.from({ length: 20 }, () =>
          send(url, 'DELETE', `${ENTITIES}?type=Car&idPattern=${pattern}${dryRun}`),
        ),
      );
      for (const answer of refused) {
        assert.equal(answer.status, 400);
        assert.equal(answer.problem()['parameter'], 'idPattern');
      }
    }
    assert.deepEqual(broker.requests, []);
    assert.ok((gateway.peakMemoryBytes() ?? 0) < 300 * MB);
  });

  it('a purge ends in bounded memory if each page of the broker has millions of small arrays', async () => {
    const answer = await send(url, 'DELETE', `${ENTITIES}?type=Car`);
    assert.equal(answer.status, 502);
    assert.match(answer.problem().type, /broker-reply-unusable$/);
    assert.ok(await isAlive());
    // Parsing one such page took more than two gigabytes.
    assert.ok((gateway.peakMemoryBytes() ?? 0) < 500 * MB);
  });

  it('a body that is too large for its route or too slow to parse is refused', async () => {
    const small = json(`{"name":"A","description":"x"}`.padEnd(64 * 1024));
    assert.equal((await send(url, 'POST', '/api/v2/domains', small)).status, 201);
    const large = json('{"name":"B"}'.padEnd(64 * 1024 + 1));
    const refused = await send(url, 'POST', '/api/v2/domains', large);
    assert.equal(refused.status, 413);
    assert.match(refused.text, /larger than 65536 bytes/);
    const rich = json(`{"a":[${'[],'.repeat(1_500_000)}1]}`);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => send(url, 'PUT', REFERENCE, rich)),
    );
    for (const answer of answers) {
      assert.equal(answer.status, 422);
      assert.match(answer.problem().type, /limit-exceeded$/);
    }
    assert.ok(await isAlive());
    assert.ok((gateway.peakMemoryBytes() ?? 0) < 600 * MB);
  });
});
