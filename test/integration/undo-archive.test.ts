import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { ConfigError } from '../../sidecar/shared/config/load.js';
import {
  send,
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { listening } from '../support/listening.js';
import { BUCKET_KEYS, type BucketFault, StubBucket } from '../support/stub-bucket.js';
import { ended, recordOf, restored, startArchiving } from '../support/undo.js';

type Entity = Readonly<Record<string, unknown>> & { readonly id: string };

interface Archived {
  readonly id: string;
  readonly state: string;
  readonly deleted: number;
  readonly failed: number;
  readonly warnings: readonly string[];
  readonly archive?: {
    readonly entities: number;
    readonly bytes: number;
    readonly expiresAt: string;
    readonly erasedAt?: string;
  };
}

function car(number: number): Entity {
  return {
    id: `urn:ngsi-ld:Car:${String(number)}`,
    type: 'Car',
    speed: [
      { type: 'Property', value: number, unitCode: 'KMH', observedAt: '2026-01-01T00:00:00Z' },
      { type: 'Property', value: -number, datasetId: 'urn:ngsi-ld:dataset:gps' },
    ],
    owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1', since: { type: 'Property', value: 2020 } },
    name: { type: 'LanguageProperty', languageMap: { de: 'Wagen', en: 'car' } },
  };
}

const refusesPuts: BucketFault = ({ method }, response) => {
  if (method === 'PUT') response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  return method === 'PUT';
};

const WITH_TIMES = 'options=sysAttrs&limit=1000';

describe('a purge that archives', () => {
  let folder: string;
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    ({ folder, broker, gateway } = await startArchiving());
  });
  after(stopAll);

  const entities = async (query: string) =>
    (await send(broker.url, 'GET', `/ngsi-ld/v1/entities?${query}`)).json() as Entity[];

  async function withCars(count: number): Promise<readonly Entity[]> {
    await gateway.purge('type=Car');
    const cars = Array.from({ length: count }, (_, index) => car(index + 1));
    const created = await sendJson(broker.url, 'POST', '/ngsi-ld/v1/entityOperations/create', cars);
    assert.equal(created.status, 201, created.text);
    return entities(`type=Car&${WITH_TIMES}`);
  }

  async function record(answer: { readonly headers: Headers }, of = gateway): Promise<Archived> {
    const id = answer.headers.get('purge-id') ?? '';
    return (await of.send('GET', `/api/v2/purges/${id}`)).json() as Archived;
  }

  async function archiveOf({ id }: Archived, of = gateway): Promise<readonly Entity[]> {
    const answer = await of.send('GET', `/api/v2/purges/${id}/archive`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
    assert.equal(answer.headers.get('content-encoding'), 'gzip', 'fetch accepts it');
    const lines = answer.text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Entity);
  }

  const byId = (all: readonly Entity[]) => [...all].sort((one, other) => one.id.localeCompare(other.id));

  it('an archive keeps each entity as the broker returned it, with its system attributes', async () => {
    const cars = await withCars(30);
    const answer = await gateway.purge('type=Car&archive=required');
    assert.equal(answer.status, 204);
    const purge = await record(answer);
    assert.deepEqual([purge.state, purge.deleted, purge.archive?.entities], ['succeeded', 30, 30]);
    assert.deepEqual(byId(await archiveOf(purge)), byId(cars));
    const days = (Date.parse(purge.archive?.expiresAt ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days <= 30, String(days));
  });

  it('an archive has whole entities, even if the query only selects some of their attributes', async () => {
    const cars = await withCars(250);
    const purge = await record(await gateway.purge('type=Car&attrs=speed&archive=required'));
    assert.deepEqual([purge.deleted, purge.archive?.entities], [250, 250]);
    assert.deepEqual(byId(await archiveOf(purge)), byId(cars));
  });

  it('entities that are selected by attributes alone are archived as a whole, although the broker refuses ids alone', async () => {
    const cars = await withCars(3);
    const bus = { ...car(9), type: 'Bus' };
    await sendJson(broker.url, 'POST', '/ngsi-ld/v1/entities', bus);
    const alone = await send(broker.url, 'GET', `/ngsi-ld/v1/entities?id=${bus.id}`);
    assert.equal(alone.status, 400);
    const purge = await record(await gateway.purge('attrs=owner&archive=required'));
    assert.deepEqual([purge.deleted, purge.archive?.entities], [4, 4]);
    const outline = (all: readonly Entity[]) =>
      byId(all).map(({ id, type, name }) => [id, type, typeof name]);
    assert.deepEqual(outline(await archiveOf(purge)), outline([...cars, bus]));
  });

  for (const removal of ['drop=speed,owner', 'keep=name', 'attrs=speed,owner&drop=speed,owner'])
    it(`the archive of a purge with ${removal} has what the purge removes, with all datasets, and nothing else`, async () => {
      const cars = await withCars(5);
      const purge = await record(await gateway.purge(`type=Car&${removal}&archive=required`));
      assert.deepEqual([purge.deleted, purge.archive?.entities], [10, 5]);
      const expected = cars.map(({ id, type, speed, owner }) => ({ id, type, speed, owner }));
      assert.deepEqual(byId(await archiveOf(purge)), byId(expected));
    });

  it('an archive keeps numbers that no double holds', async () => {
    await gateway.purge('type=Exact');
    const text = '[{"id":"urn:e:1","type":"Exact","n":{"type":"Property","value":12345678901234567890.125}}]';
    await send(broker.url, 'POST', '/ngsi-ld/v1/entityOperations/create', {
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    const shown = (await send(broker.url, 'GET', '/ngsi-ld/v1/entities?type=Exact&options=sysAttrs')).text;
    const purge = await record(await gateway.purge('type=Exact&archive=required'));
    const answer = await gateway.send('GET', `/api/v2/purges/${purge.id}/archive`);
    assert.equal(answer.text, `${shown.slice(1, -1)}\n`);
  });

  it('a dry run with archive=required deletes nothing and makes no archive', async () => {
    await withCars(3);
    const purge = await record(await gateway.purge('type=Car&archive=required&dryRun=true'));
    assert.equal(purge.archive, undefined);
    const answer = await gateway.send('GET', `/api/v2/purges/${purge.id}/archive`);
    assert.equal(answer.status, 404);
    assert.match(answer.problem().detail ?? '', /it archived nothing/);
  });

  it('a caller whose policy demands archives cannot erase any', async () => {
    await withCars(3);
    const purge = await record(await gateway.purge('type=Car&archive=required'));
    const path = `/api/v2/purges/${purge.id}/archive`;
    const erase = (policy: string) => gateway.send('DELETE', path, { headers: { 'x-purge-policy': policy } });
    for (const policy of ['archive=required', 'max-affected=9, archive=best-effort']) {
      const refused = await erase(policy);
      assert.equal(refused.status, 403);
      assert.match(refused.text, /forbidden-by-policy.*you may not erase archives/);
    }
    assert.equal((await erase('archive=often')).status, 400);
    assert.equal((await gateway.send('GET', path)).status, 200);
    assert.equal((await erase('archive=none, max-affected=9')).status, 204);
  });

  it('DELETE erases an archive and keeps the record, which then says so', async () => {
    await withCars(3);
    const purge = await record(await gateway.purge('type=Car&archive=required'));
    assert.ok((await readdir(folder)).includes(purge.id));
    assert.equal((await gateway.send('DELETE', `/api/v2/purges/${purge.id}/archive`)).status, 204);
    assert.ok(!(await readdir(folder)).includes(purge.id));
    const left = (await gateway.send('GET', `/api/v2/purges/${purge.id}`)).json() as Archived;
    assert.deepEqual({ ...left, archive: undefined }, { ...purge, archive: undefined });
    assert.ok(left.archive?.erasedAt !== undefined && left.archive.entities === 3);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await gateway.send(method, `/api/v2/purges/${purge.id}/archive`)).status, 404);
  });

  it('requests for the archive of an invalid purge id are 404', async () => {
    for (const id of ['..', '%2e%2e%2fx', 'a%00b', '00000000-0000-0000-0000-000000000000'])
      assert.equal((await gateway.send('GET', `/api/v2/purges/${id}/archive`)).status, 404, id);
  });

  it('a purge whose requested archive cannot be made is refused before anything is deleted', async () => {
    await withCars(1);
    const plain = await startTestGateway({ BROKER_URL: broker.url });
    const native = await startTestGateway({
      BROKER_URL: broker.url,
      PURGE_STRATEGY: 'native',
      ARCHIVE_URL: pathToFileURL(folder).href,
    });
    for (const each of [plain, native]) {
      const answer = await each.purge('type=Car&archive=required');
      assert.equal(answer.status, 400);
      assert.equal(answer.problem()['parameter'], 'archive');
    }
    assert.equal((await gateway.purge('type=Car&archive=perhaps')).status, 400);
    assert.equal((await entities('type=Car')).length, 1);
  });

  it('PURGE_ARCHIVE sets the minimum, whatever a purge requests', async () => {
    await withCars(2);
    const strict = await startTestGateway({
      BROKER_URL: broker.url,
      ARCHIVE_URL: pathToFileURL(folder).href,
      PURGE_ARCHIVE: 'required',
    });
    const purge = await record(await strict.purge('type=Car&archive=none'), strict);
    assert.equal(purge.archive?.entities, 2);
  });

  it('X-Purge-Policy can set the minimum as well, and the purge is refused if no archive can be made', async () => {
    await withCars(3);
    const policy = (value: string) => ({ 'x-purge-policy': value });
    const purge = await record(
      await gateway.purge('type=Car&id=urn:ngsi-ld:Car:1', policy('archive=required')),
    );
    assert.equal(purge.archive?.entities, 1);
    const plain = await startTestGateway({ BROKER_URL: broker.url });
    const refused = await plain.purge('type=Car', policy('archive=best-effort'));
    assert.equal(refused.status, 403);
    assert.match(refused.problem().detail ?? '', /keeps no archives .* every purge has to archive/);
    assert.equal((await plain.purge('type=Car&dryRun=true', policy('archive=required'))).status, 200);
    assert.equal((await gateway.purge('type=Car', policy('archive=always'))).status, 400);
    assert.equal((await entities('type=Car')).length, 2);
  });

  it('a start with an archive folder or bucket that cannot be written fails with a configuration error', async () => {
    const bucket = await StubBucket.open();
    const keys = {
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'wrong',
      AWS_ENDPOINT_URL: bucket.endpoint.href,
    };
    for (const env of [{ ARCHIVE_URL: 'file:///proc/archives' }, { ARCHIVE_URL: 's3://archive/x', ...keys }])
      await assert.rejects(startTestGateway({ BROKER_URL: broker.url, ...env }), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.mistakes[0] ?? '', /^ARCHIVE_URL cannot be used\. The archive (?:folder|bucket)/);
        return true;
      });
    await bucket.close();
  });
});

describe('a purge whose archive fails', () => {
  let bucket: StubBucket;
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    bucket = await StubBucket.open();
    broker = await startTestBroker();
    gateway = await startTestGateway(env());
  });
  after(async () => {
    await stopAll();
    await bucket.close();
  });

  const env = () => ({
    BROKER_URL: broker.url,
    ARCHIVE_URL: 's3://archive/purges',
    PURGE_PAGE_SIZE: '100',
    AWS_ENDPOINT_URL: bucket.endpoint.href,
    AWS_REGION: BUCKET_KEYS.region,
    AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
  });

  async function withCars(count: number): Promise<void> {
    const cars = Array.from({ length: count }, (_, index) => car(index + 1));
    await sendJson(broker.url, 'POST', '/ngsi-ld/v1/entityOperations/upsert', cars);
  }

  const left = async () =>
    (
      JSON.parse(
        (await send(broker.url, 'GET', '/ngsi-ld/v1/entities?type=Car&limit=1000')).text,
      ) as unknown[]
    ).length;

  it('parts of entities that cannot be archived are not deleted, and are reported as failed', async () => {
    broker.entities.seed(2, (n) => ({ ...car(n), id: `urn:ngsi-ld:Part:${String(n)}`, type: 'Part' }));
    bucket.fault = refusesPuts;
    const answer = await gateway.purge('type=Part&drop=speed&archive=required');
    bucket.fault = () => false;
    assert.equal(answer.status, 207, answer.text);
    const counts = ['deleted', 'already-gone', 'failed'].map((name) => answer.headers.get(`purge-${name}`));
    assert.deepEqual(counts, ['0', '0', '2']);
    assert.ok(broker.entities.get('urn:ngsi-ld:Part:1')?.['speed'] !== undefined);
  });

  it('with archive=required, items that could not be archived are not deleted, and the answer says why', async () => {
    await withCars(20);
    bucket.fault = refusesPuts;
    const answer = await gateway.purge('type=Car&archive=required');
    const purge = (
      await gateway.send('GET', `/api/v2/purges/${answer.headers.get('purge-id') ?? ''}`)
    ).json() as Archived;
    assert.deepEqual([purge.deleted, purge.failed, await left()], [0, 20, 20]);
    assert.equal(answer.status, 207);
    const { errors } = answer.json() as { errors: { error: { type: string; detail: string } }[] };
    assert.equal(errors.length, 20);
    assert.match(errors[0]?.error.detail ?? '', /could not be archived\. The archive bucket answered 403/);
    assert.match((await gateway.send('GET', '/metrics')).text, /archive_failures_total [1-9]/);
    bucket.fault = () => false;
  });

  it('with archive=required, a bucket that fails in the middle ends the purge, and everything deleted so far can be restored', async () => {
    const speed = { type: 'Property', value: 1 };
    broker.entities.seed(800, (n) => ({ id: `urn:ngsi-ld:Bus:${String(n)}`, type: 'Bus', speed }));
    const withSpeed = async () => {
      const counted = await send(
        broker.url,
        'GET',
        '/ngsi-ld/v1/entities?type=Bus&q=speed&limit=0&count=true',
      );
      return Number(counted.headers.get('ngsild-results-count'));
    };
    let segments = 0;
    bucket.fault = ({ method, key }, response) => {
      segments += method === 'PUT' && key.endsWith('.gz') ? 1 : 0;
      if (segments <= 2) return false;
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      return true;
    };
    const answer = await gateway.purge('type=Bus&drop=speed&archive=required');
    bucket.fault = () => false;
    const gone = 800 - (await withSpeed());
    assert.ok(gone > 0 && gone < 800, String(gone));
    const { status, type, deleted } = answer.problem();
    assert.deepEqual([status, deleted], [503, gone]);
    assert.equal(type, 'urn:ngsi-ld-gateway:problem:archive-unavailable');
    const purge = await recordOf(gateway, answer.headers.get('purge-id') ?? '');
    assert.deepEqual([purge.state, purge.deleted], ['failed', gone]);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual([restore.state, restore.restored, await withSpeed()], ['succeeded', gone, 800]);
    await gateway.purge('type=Bus');
  });

  it('with archive=best-effort, items that could not be archived are deleted and counted in the warnings', async () => {
    await withCars(20);
    bucket.fault = refusesPuts;
    const answer = await gateway.purge('type=Car&archive=best-effort');
    const purge = (
      await gateway.send('GET', `/api/v2/purges/${answer.headers.get('purge-id') ?? ''}`)
    ).json() as Archived;
    assert.deepEqual([purge.deleted, purge.failed, await left()], [20, 0, 0]);
    assert.match(
      purge.warnings.join(),
      /^20 of what was deleted could not be archived, and cannot be restored\./,
    );
    assert.equal(purge.archive, undefined);
    bucket.fault = () => false;
  });

  it('a bucket that hangs delays neither the cancellation of a purge nor the end of the gateway', async () => {
    await withCars(20);
    const other = await startTestGateway({ ...env(), SHUTDOWN_GRACE_MS: '8000' });
    let hung = () => {};
    const hangs = () => new Promise<void>((resolve) => (hung = resolve));
    bucket.fault = ({ method }) => {
      if (method === 'PUT') hung();
      return method === 'PUT';
    };
    let waits = hangs();
    const asked = { target: 'entities', query: 'type=Car', archive: 'required' };
    const taken = await sendJson(gateway.url, 'POST', '/api/v2/purges', asked);
    const { id } = taken.json() as Archived;
    await waits;
    const beganMs = Date.now();
    await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
    await ended(gateway, id);
    // A request to a bucket has a limit of fifteen seconds, and four attempts.
    assert.ok(Date.now() - beganMs < 10_000);
    const { state, deleted } = await recordOf(gateway, id);
    assert.deepEqual([state, deleted], ['cancelled', 0]);

    waits = hangs();
    const caller = other.purge('type=Car&archive=required');
    await waits;
    const [answer] = await Promise.all([caller, other.gateway.close()]);
    assert.deepEqual([answer.status, answer.problem()['deleted'], await left()], [503, undefined, 20]);
    bucket.fault = () => false;
  });

  it('a bucket that hangs does not delay the cancellation of a restore', async () => {
    await withCars(20);
    const purge = (await gateway.purge('type=Car&archive=required')).headers.get('purge-id') ?? '';
    let tries = 0;
    let hung = () => {};
    const waits = new Promise<void>((resolve) => (hung = resolve));
    bucket.fault = () => {
      tries += 1;
      hung();
      return true;
    };
    const taken = await sendJson(gateway.url, 'POST', `/api/v2/purges/${purge}/restore`, {});
    const { id } = taken.json() as Archived;
    await waits;
    await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
    await ended(gateway, id);
    assert.equal((await recordOf(gateway, id)).state, 'cancelled');
    assert.equal(tries, 1, 'the bucket was waited for');
    bucket.fault = () => false;
  });

  it('a bucket that fails temporarily during a purge causes no loss', async () => {
    await withCars(20);
    let failures = 2;
    bucket.fault = ({ method }, response) => {
      if (method !== 'PUT' || failures === 0) return false;
      failures -= 1;
      response.writeHead(503).end();
      return true;
    };
    const answer = await gateway.purge('type=Car&archive=required');
    assert.equal(answer.status, 204, answer.text);
    assert.equal(await left(), 0);
    bucket.fault = () => false;
  });
});

describe('a broker whose answers have bytes that are not UTF-8', () => {
  after(stopAll);

  /** Starts a gateway in front of a broker that shows ü as one byte, as clients that write Latin-1 leave it. */
  async function startLatin() {
    const { broker, folder } = await startArchiving();
    const latin = await listening(
      createServer((request, response) => {
        void (async () => {
          const { method = '', url = '', headers } = request;
          const sent = await buffer(request);
          const answer = await fetch(`${broker.url}${url}`, {
            method,
            headers: { 'content-type': headers['content-type'] ?? '' },
            ...(sent.length === 0 ? {} : { body: sent }),
          });
          const bytes = Buffer.from(await answer.arrayBuffer()).toString('latin1');
          const fields = ['content-type', 'ngsild-results-count'].flatMap((name) => {
            const value = answer.headers.get(name);
            return value === null ? [] : [[name, value] as const];
          });
          response.writeHead(answer.status, Object.fromEntries(fields));
          response.end(Buffer.from(bytes.replaceAll('\u00c3\u00bc', '\u00fc'), 'latin1'));
        })();
      }),
    );
    stopLater(latin.close);
    broker.entities.seed(3, (index) => ({
      id: `urn:ngsi-ld:Street:${String(index)}`,
      type: 'Street',
      name: { type: 'Property', value: ['Tor', 'M\u00fcnze', 'Platz'][index] },
    }));
    const gateway = await startTestGateway({
      BROKER_URL: latin.url,
      ARCHIVE_URL: pathToFileURL(folder).href,
    });
    return { broker, gateway };
  }

  for (const [what, query] of [
    ['entities', 'type=Street'],
    ['attributes', 'type=Street&drop=name'],
  ] as const)
    it(`a purge of ${what} with archive=required leaves what its archive would change`, async () => {
      const { broker, gateway } = await startLatin();
      const purge = await gateway.purge(`${query}&archive=required`);
      assert.equal(purge.status, 207);
      assert.match(purge.text, /"entityId":"urn:ngsi-ld:Street:1"[^]*not UTF-8/);
      assert.deepEqual([purge.headers.get('purge-deleted'), purge.headers.get('purge-failed')], ['2', '1']);
      const left = await send(broker.url, 'GET', '/ngsi-ld/v1/entities?type=Street&attrs=name');
      assert.match(left.text, /M\u00fcnze/);
      assert.doesNotMatch(left.text, /Tor/);
    });

  for (const query of ['type=Street', 'type=Street&timerel=before&timeAt=2027-01-01T00:00:00Z'])
    it(`a purge of histories (${query}) with archive=required leaves those that its archive would change`, async () => {
      const { broker, gateway } = await startLatin();
      broker.temporal.seed(3, (index) => ({
        id: `urn:ngsi-ld:Street:${String(index)}`,
        type: 'Street',
        name: [
          {
            type: 'Property',
            value: ['Tor', 'M\u00fcnze', 'Platz'][index],
            observedAt: '2026-01-01T00:00:00Z',
          },
        ],
      }));
      const purge = await gateway.send('DELETE', `/ngsi-ld/v1/temporal/entities?${query}&archive=required`);
      assert.equal(purge.status, 207, purge.text);
      assert.match(purge.text, /urn:ngsi-ld:Street:1[^]*not UTF-8/);
      assert.deepEqual([purge.headers.get('purge-deleted'), purge.headers.get('purge-failed')], ['2', '1']);
    });

  it('a purge does not delete an entity for another whose id cannot be read', async () => {
    const { broker, gateway } = await startLatin();
    for (const [id, type] of [
      ['urn:ngsi-ld:Lane:M\u00fcnze', 'Lane'],
      ['urn:ngsi-ld:Lane:M\ufffdnze', 'Path'],
    ] as const)
      broker.entities.seed(1, () => ({ id, type }));
    const purge = await gateway.purge('type=Lane');
    assert.equal(purge.status, 502, purge.text);
    assert.match(purge.text, /not UTF-8/);
    const left = await send(broker.url, 'GET', '/ngsi-ld/v1/entities?type=Lane,Path');
    assert.equal((left.json() as readonly unknown[]).length, 2);
  });

  it('a purge with archive=best-effort deletes it and warns', async () => {
    const { gateway } = await startLatin();
    const purge = await gateway.purge('type=Street&archive=best-effort');
    assert.equal(purge.headers.get('purge-deleted'), '3');
    assert.match(
      purge.headers.get('ngsild-warning') ?? purge.text,
      /1 of what was deleted could not be archived.*not UTF-8/,
    );
  });
});
