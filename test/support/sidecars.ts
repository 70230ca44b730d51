import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { send, startTestBroker, startTestGateway, stopLater, type Answer } from './gateway-harness.js';
import { GatewayProcess } from './gateway-process.js';
import { createDatabase, type TestDatabase } from './postgres.js';
import { isDelete, relayTo, startRecordingBroker, type RecordedRequest } from './recording-broker.js';

/** A delete as it reached the broker, with its purge and its gateway. */
export interface SeenDelete {
  /** The time of its arrival, by performance.now(). */
  readonly atMs: number;
  readonly requestId: string;
  /** Different for each process. */
  readonly via: string;
}

/** A broker with slow deletes that records who sends them. */
export class WatchedBroker {
  readonly deletes: SeenDelete[] = [];
  /** Purges for which two processes had deletes in flight at the same time. */
  readonly overlaps: string[] = [];
  /** The duration of a delete, in milliseconds. */
  delayMs = 0;
  /** Called after a request other than a delete was executed and before it is answered. */
  onCarriedOut: (request: RecordedRequest) => Promise<void> = async () => {};
  readonly #underWay: SeenDelete[] = [];
  readonly #relay: ReturnType<typeof relayTo>;

  static async start(): Promise<WatchedBroker> {
    const broker = await startTestBroker();
    const watched = new WatchedBroker(broker);
    const { url } = await startRecordingBroker((request) => watched.#answer(request));
    return Object.assign(watched, { url });
  }

  readonly url: string = '';

  private constructor(readonly broker: EmbeddedBroker) {
    this.#relay = relayTo(broker);
  }

  /** Adds entities of a type, in a tenant. */
  seed(type: string, count: number, tenant?: string): void {
    this.broker.entities.seed(count, (n) => ({ id: `urn:ngsi-ld:${type}:${String(n)}`, type }), tenant);
  }

  /**
   * Returns the processes that sent deletes of a purge, in order; one that resumed occurs again.
   */
  sendersOf(requestId: string): readonly string[] {
    const all = this.deletes.filter((each) => each.requestId === requestId).map(({ via }) => via);
    return all.filter((via, index) => via !== all[index - 1]);
  }

  async #answer(request: RecordedRequest) {
    if (!isDelete(request)) {
      const answer = await this.#relay(request);
      await this.onCarriedOut(request);
      return answer;
    }
    const seen = {
      atMs: performance.now(),
      requestId: String(request.headers['x-request-id']),
      via: String(request.headers['via']),
    };
    this.deletes.push(seen);
    const isForeign = (other: SeenDelete) => other.requestId === seen.requestId && other.via !== seen.via;
    if (this.#underWay.some(isForeign)) this.overlaps.push(seen.requestId);
    this.#underWay.push(seen);
    if (this.delayMs > 0) await pause(this.delayMs);
    const answer = await this.#relay(request);
    this.#underWay.splice(this.#underWay.indexOf(seen), 1);
    return answer;
  }
}

export interface Sidecar {
  readonly name: string;
  readonly url: string;
  /** Only for sidecars in processes of their own. */
  readonly process?: GatewayProcess;
}

export interface SidecarsOptions {
  /** The URL of a PostgreSQL; by default the shared one. */
  readonly server?: string;
  /**
   * Whether each sidecar runs in its own process, so that it can be stopped and killed; starting
   * one takes longer than most tests.
   */
  readonly isApart?: boolean;
}

/** Several gateways on one PostgreSQL, in front of one broker. */
export class Sidecars {
  readonly broker: WatchedBroker;
  readonly database: TestDatabase;
  readonly #all: Sidecar[];
  readonly #env: Readonly<Record<string, string>>;

  static async start(
    names: readonly string[],
    env: Readonly<Record<string, string>>,
    { server, isApart = false }: SidecarsOptions = {},
  ): Promise<Sidecars> {
    const database = await createDatabase(server);
    stopLater(() => database.drop());
    const broker = await WatchedBroker.start();
    const place = { BROKER_URL: broker.url, DATABASE_URL: database.url };
    const start = async (name: string) =>
      isApart
        ? startApart(name, { ...place, ...env })
        : { name, url: (await startTestGateway({ ...place, INSTANCE_NAME: name, ...env })).url };
    return new Sidecars(await Promise.all(names.map(start)), broker, database, { ...place, ...env });
  }

  private constructor(
    all: Sidecar[],
    broker: WatchedBroker,
    database: TestDatabase,
    env: Readonly<Record<string, string>>,
  ) {
    this.#all = all;
    this.broker = broker;
    this.database = database;
    this.#env = env;
  }

  get all(): readonly Sidecar[] {
    return this.#all;
  }

  named(name: string): Sidecar {
    return this.all.find((each) => each.name === name) ?? assert.fail(`there is no sidecar ${name}`);
  }

  processOf(name: string): GatewayProcess {
    return this.named(name).process ?? assert.fail(`${name} has no process of its own`);
  }

  /** Kills a process with SIGKILL. */
  async kill(name: string): Promise<void> {
    const process = this.processOf(name);
    process.signal('SIGKILL');
    await process.ended;
  }

  /** Starts a sidecar again, under the name of one that has ended. */
  async revive(name: string): Promise<void> {
    const sidecar = await startApart(name, this.#env);
    this.#all.splice(this.#all.indexOf(this.named(name)), 1, sidecar);
  }

  others(name: string): readonly Sidecar[] {
    return this.all.filter((each) => each.name !== name);
  }
}

async function startApart(name: string, env: Readonly<Record<string, string>>): Promise<Sidecar> {
  const process = await GatewayProcess.start({ INSTANCE_NAME: name, PORT: '0', ...env });
  return { name, process, url: await process.url() };
}

/** Starts a job. */
export async function submit(
  { url }: Pick<Sidecar, 'url'>,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PurgeRecord> {
  const answer = await send(url, 'DELETE', `/ngsi-ld/v1/entities?${query}`, {
    headers: { prefer: 'respond-async', ...headers },
  });
  assert.equal(answer.status, 202, answer.text);
  return answer.json() as PurgeRecord;
}

/** Reads the record of a purge from any gateway. */
export async function recordAt({ url }: Pick<Sidecar, 'url'>, id: string): Promise<PurgeRecord> {
  const answer: Answer = await send(url, 'GET', `/api/v2/purges/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as PurgeRecord;
}

/** Repeats a read until the answer is right. */
export async function until<Found>(
  look: () => Promise<Found> | Found,
  isRight: (found: Found) => boolean,
): Promise<Found> {
  for (;;) {
    const found = await look();
    if (isRight(found)) return found;
    await pause(100);
  }
}

/** The events of a purge at a gateway: the records so far, and the end of the stream. */
export interface Followed {
  readonly records: readonly PurgeRecord[];
  readonly ended: Promise<void>;
}

/** Follows the events of a purge, through any gateway, until it has ended. */
export async function eventsAt({ url }: Pick<Sidecar, 'url'>, id: string): Promise<Followed> {
  const { status, body } = await fetch(`${url}/api/v2/purges/${id}/events`);
  assert.equal(status, 200);
  assert.ok(body !== null);
  const records: PurgeRecord[] = [];
  async function follow(events: ReadableStream<Uint8Array>) {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of events) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: ')) records.push(JSON.parse(line.slice(6)) as PurgeRecord);
    }
  }
  return { records, ended: follow(body) };
}
