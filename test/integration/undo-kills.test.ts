import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import {
  ArchiveCipher,
  Archives,
  type ArchiveStorage,
  ArchiveUnavailableError,
} from '../../sidecar/archive/index.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  BrokerCapabilities,
  type BrokerClient,
  createBrokerClient,
} from '../../sidecar/purge/broker/index.js';
import {
  archivedKeys,
  NOTHING_RESTORED,
  parseEntityPurgeQuery,
  parseTemporalPurgeQuery,
  purgeEntities,
  purgeTemporal,
  restoreArchive,
  type RestorePosition,
} from '../../sidecar/purge/index.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import {
  PATIENT,
  send,
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
} from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { isDelete, relayTo, startRecordingBroker } from '../support/recording-broker.js';
import { seedSensors } from '../support/temporal-harness.js';
import { runs } from '../support/thoroughness.js';
import {
  ended,
  entitiesOf,
  everyKind,
  historiesOf,
  instancesIn,
  type PurgeRecord,
  recordOf,
  withoutSystemTimes,
} from '../support/undo.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/**
 * The process dies at a step: at a request to the broker or an object of the archive, before or
 * after that took effect.
 */
class Life {
  #left: number;
  readonly #hasEffect: boolean;
  isOver = false;

  constructor(steps: number, hasEffect: boolean) {
    this.#left = steps;
    this.#hasEffect = hasEffect;
  }

  async step<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#left -= 1;
    if (this.isOver) return forever();
    if (this.#left > 0) return work();
    this.isOver = true;
    if (this.#hasEffect) await work().catch(() => {});
    return forever();
  }
}

/** A dead process never gets an answer. */
async function forever(): Promise<never> {
  return new Promise(() => {});
}

/** An archive storage that survives a process; some writes fail. */
class MemoryStorage implements ArchiveStorage {
  readonly objects = new Map<string, Buffer>();
  life: Life | undefined;
  /** Every nth write fails. */
  failsEach = Infinity;
  #puts = 0;

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const work = async () => {
      this.#puts += 1;
      if (this.#puts % this.failsEach === 0) throw new ArchiveUnavailableError('full');
      this.objects.set(name, Buffer.from(bytes));
    };
    return this.life === undefined ? work() : this.life.step(work);
  }

  get = async (name: string) => this.objects.get(name);
  list = async (folder: string) =>
    [...this.objects.keys()].filter((name) => name.startsWith(`${folder}/`)).sort();
  folders = async () => [];
  remove = async () => {};
  close = async () => {};
}

const LIMITS = {
  pageSize: 10,
  pageSizeMax: 10,
  batchSize: 4,
  concurrency: 3,
  strategy: 'auto',
  maxAffected: undefined,
} as const;
const COUNT = 30;

interface Deaths {
  readonly steps: number;
  readonly hasEffect: boolean;
}

const deaths = fc.array(fc.record({ steps: fc.integer({ min: 1, max: 40 }), hasEffect: fc.boolean() }), {
  maxLength: 5,
});

describe('an archive whose purge is killed again and again', () => {
  let broker: EmbeddedBroker;
  let client: BrokerClient;

  before(async () => {
    broker = await startTestBroker();
    client = createBrokerClient({ brokerUrl: new URL(broker.url), timeoutMs: 60_000 });
  });
  after(async () => {
    await client.close();
    await stopAll();
  });

  function dependenciesIn(life: Life | undefined) {
    const send: BrokerClient['send'] = async (request) =>
      life === undefined ? client.send(request) : life.step(async () => client.send(request));
    return {
      client: { send, close: async () => {} },
      capabilities: new BrokerCapabilities(systemClock),
      retry: { maxAttempts: 3, minDelayMs: 0, maxDelayMs: 0, awayMs: 0 },
      clock: systemClock,
      random: () => 0,
    };
  }

  /** Waits until some work or the life ends. */
  async function live(life: Life | undefined, work: Promise<unknown>): Promise<boolean> {
    const end = { isReached: false };
    const ending = work.then(() => {
      end.isReached = true;
    });
    while (!end.isReached && life?.isOver !== true) await Promise.race([ending, systemClock.sleep(1)]);
    return end.isReached;
  }

  async function purgeOnce(
    query: string,
    archives: Archives,
    of: string,
    epoch: number,
    life: Life | undefined,
  ) {
    const parsed = parseEntityPurgeQuery(query);
    const unit = parsed.removal === undefined ? 'entities' : 'attributes';
    const writer = await archives.writer({ purge: of, target: 'entities' }, epoch, archivedKeys(unit));
    const order = { query: parsed, headers: {}, limits: LIMITS, archive: { writer, isRequired: true } };
    return live(life, purgeEntities(order, dependenciesIn(life), new AbortController().signal));
  }

  async function archived(
    archives: Archives,
    of: string,
  ): Promise<ReadonlyMap<string, Record<string, unknown>>> {
    const found = new Map<string, Record<string, unknown>>();
    for await (const { id, line } of archives.reader({ purge: of, target: 'entities' }).entities()) {
      assert.ok(!found.has(id), `${id} is in the archive once`);
      found.set(id, JSON.parse(line) as Record<string, unknown>);
    }
    return found;
  }

  /** Asserts that everything missing at the broker is in the archive unchanged. */
  async function checkKept(
    before: readonly Record<string, unknown>[],
    archives: Archives,
    of: string,
  ): Promise<void> {
    const kept = await archived(archives, of);
    const now = new Map((await entitiesOf(broker, 'type=Car')).map((entity) => [entity['id'], entity]));
    for (const entity of before) {
      const [there, inArchive] = [now.get(entity['id']), kept.get(String(entity['id']))];
      for (const [name, value] of Object.entries(entity))
        if (there === undefined || !(name in there))
          assert.deepEqual(inArchive?.[name], value, String(entity['id']));
    }
  }

  for (const query of ['type=Car', 'type=Car&attrs=speed', 'type=Car&drop=speed,owner,name'])
    it(`everything that ${query} deletes is in the archive and can be restored, wherever the gateway dies`, async () => {
      await fc.assert(
        fc.asyncProperty(
          deaths,
          deaths,
          fc.constantFrom(Infinity, Infinity, 5),
          async (purging, restoring, failsEach) => {
            await fetch(`${broker.url}/ngsi-ld/v1/entities?type=Car`, { method: 'DELETE' });
            broker.entities.seed(COUNT, everyKind);
            const before = await entitiesOf(broker, 'type=Car');
            const storage = new MemoryStorage();
            storage.failsEach = failsEach;
            const archives = new Archives({ storage, cipher: new ArchiveCipher([]), keepDays: 1 });
            const of = randomUUID();
            await dieOften(purging, async (life, epoch) => {
              storage.life = life;
              const isDone = await purgeOnce(query, archives, of, epoch, life);
              storage.life = undefined;
              await checkKept(before, archives, of);
              return isDone;
            });
            const kept = await archived(archives, of);
            let position: RestorePosition = NOTHING_RESTORED;
            let last: Readonly<Record<string, unknown>> = {};
            await dieOften(restoring, async (life) => {
              const restored = restoreArchive(
                {
                  onEvent: () => {},
                  lines: () => archives.reader({ purge: of, target: 'entities' }).entities(),
                  unit: query.includes('drop') ? 'attributes' : 'entities',
                  ids: undefined,
                  dryRun: false,
                  headers: {},
                  limits: LIMITS,
                  from: position,
                  save: async (at) => {
                    const save = async () => void (position = at);
                    await (life === undefined ? save() : life.step(save));
                  },
                },
                dependenciesIn(life),
                new AbortController().signal,
              );
              return live(
                life,
                restored.then((report) => (last = { ...report })),
              );
            });
            assert.deepEqual(
              withoutSystemTimes(await entitiesOf(broker, 'type=Car')),
              withoutSystemTimes(before),
            );
            const items = query.includes('drop') ? 3 * kept.size : kept.size;
            // If the storage fails, some entities were never deleted.
            const restored = Number(last['restored']) + Number(last['alreadyThere']);
            assert.deepEqual(
              [last['matched'], restored, last['failed'], last['unknown']],
              [items, items, 0, 0],
            );
            if (failsEach === Infinity) assert.equal(last['alreadyThere'], 0);
          },
        ),
        { numRuns: runs(6) },
      );
    });

  for (const [query, unit] of [
    ['type=Sensor', 'entities'],
    ['type=Sensor&attrs=temperature', 'attributes'],
  ] as const)
    it(`every instance that a purge of histories by ${query} deletes is in the archive and can be restored, wherever the gateway dies`, async () => {
      await fc.assert(
        fc.asyncProperty(deaths, fc.constantFrom(Infinity, 4), async (purging, failsEach) => {
          for (const id of broker.temporal.ids())
            await fetch(`${broker.url}/ngsi-ld/v1/temporal/entities/${id}`, { method: 'DELETE' });
          seedSensors(broker, { entities: 6, instances: 6 });
          const before = instancesIn(historiesOf(broker));
          const storage = new MemoryStorage();
          storage.failsEach = failsEach;
          const archives = new Archives({ storage, cipher: new ArchiveCipher([]), keepDays: 1 });
          const of = { purge: randomUUID(), target: 'temporal' } as const;
          const lines = () => archives.reader(of).entities();
          await dieOften(purging, async (life, epoch) => {
            storage.life = life;
            const writer = await archives.writer(of, epoch, archivedKeys(unit));
            const archive = { writer, isRequired: true };
            const order = { query: parseTemporalPurgeQuery(query), headers: {}, limits: LIMITS, archive };
            const signal = new AbortController().signal;
            const isDone = await live(life, purgeTemporal(order, dependenciesIn(life), signal));
            storage.life = undefined;
            const kept: Readonly<Record<string, unknown>>[] = [];
            for await (const { line } of lines()) kept.push(JSON.parse(line) as Record<string, unknown>);
            const there = new Set([...instancesIn(kept), ...instancesIn(historiesOf(broker))]);
            assert.deepEqual(
              before.filter((instance) => !there.has(instance)),
              [],
            );
            return isDone;
          });
          const given = { ids: undefined, dryRun: false, headers: {}, limits: LIMITS, from: undefined };
          const order = { ...given, onEvent: () => {} };
          const restoring = { ...order, lines, unit: 'instances', save: async () => {} } as const;
          await live(
            undefined,
            restoreArchive(restoring, dependenciesIn(undefined), new AbortController().signal),
          );
          assert.deepEqual(instancesIn(historiesOf(broker)), before);
        }),
        { numRuns: runs(4) },
      );
    });

  /** Repeats a run until it is done, dying as many times as given. */
  async function dieOften(
    all: readonly Deaths[],
    run: (life: Life | undefined, epoch: number) => Promise<boolean>,
  ): Promise<void> {
    let epoch = 0;
    for (const { steps, hasEffect } of all) if (await run(new Life(steps, hasEffect), epoch++)) return;
    for (let more = 0; more < 5; more += 1) if (await run(undefined, epoch++)) return;
    assert.fail('it came to no end');
  }
});

describe('a gateway that is killed while a caller waits for its purge', () => {
  after(stopAll);

  it('a killed gateway leaves a record that leads to the archive of the deleted entities, even at the first delete', async () => {
    const folder = temporaryFolder();
    const broker = await startTestBroker();
    broker.entities.seed(50, everyKind);
    const before = withoutSystemTimes(await entitiesOf(broker, 'type=Car'));
    const killed = { kill: () => {} };
    const relay = relayTo(broker);
    const front = await startRecordingBroker(async (request) => {
      const answer = await relay(request);
      if (isDelete(request)) killed.kill();
      return answer;
    });
    const env = {
      PORT: '0',
      DATABASE_PATH: join(folder, 'gateway.db'),
      ARCHIVE_URL: pathToFileURL(join(folder, 'archive')).href,
    };
    const first = await GatewayProcess.start({ ...env, BROKER_URL: front.url });
    killed.kill = () => first.signal('SIGKILL');
    await assert.rejects(send(await first.url(), 'DELETE', '/ngsi-ld/v1/entities?type=Car&archive=required'));
    await first.ended;
    assert.ok(broker.entities.count() < 50);

    const gateway = await startTestGateway({ ...env, ...PATIENT, BROKER_URL: broker.url });
    const [{ id }] = (await gateway.send('GET', '/api/v2/purges')).json() as [PurgeRecord];
    await ended(gateway, id);
    const { state, archive } = await recordOf(gateway, id);
    assert.deepEqual([state, archive?.entities], ['interrupted', 50]);
    const taken = await sendJson(gateway.url, 'POST', `/api/v2/purges/${id}/restore`, {});
    assert.equal(taken.status, 202, taken.text);
    await ended(gateway, (taken.json() as PurgeRecord).id);
    assert.deepEqual(withoutSystemTimes(await entitiesOf(broker, 'type=Car')), before);
  });
});
