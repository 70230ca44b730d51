import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { send, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import {
  Gate,
  isDelete,
  startRecordingBroker,
  type RecordedAnswer,
  type RecordedRequest,
} from '../support/recording-broker.js';
import { isThorough } from '../support/thoroughness.js';

after(stopAll);

const ENTITIES = '/ngsi-ld/v1/entities';
const TOTAL = 1500;
/**
 * The number of deletes that the killed process sends; it never receives the answer to the last
 * one.
 */
const LAST_DELETE = 4;

const answer = (status: number, body?: unknown, headers = {}): RecordedAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

/**
 * Starts a broker that records which process deleted each entity, by the process's own name in Via.
 */
async function startBroker(rivals: number) {
  const entities = new Set(Array.from({ length: TOTAL }, (_, index) => `urn:ngsi-ld:Car:${index}`));
  const deletedBy = new Map<string, number>();
  const requestsOf = new Map<string, number>();
  /** Opens when every process has listed all entities, since a round lists before it deletes. */
  const allListed = new Gate();
  /** Keeps the other processes waiting until one has been killed. */
  const killed = new Gate();
  const state = { victim: '', kill: () => {} };

  async function answerTo(request: RecordedRequest): Promise<RecordedAnswer> {
    if (!isDelete(request)) return list(request);
    const by = String(request.headers.via);
    const requests = (requestsOf.get(by) ?? 0) + 1;
    requestsOf.set(by, requests);
    if (requestsOf.size === rivals) allListed.open();
    await allListed.passed;
    if (by !== state.victim && requests > LAST_DELETE) await killed.passed;
    const single = request.method === 'DELETE';
    const ids = single
      ? [decodeURIComponent(request.url.slice(ENTITIES.length + 1))]
      : (JSON.parse(request.body) as string[]);
    const missing = ids.filter((id) => !entities.delete(id));
    deletedBy.set(by, (deletedBy.get(by) ?? 0) + ids.length - missing.length);
    if (by === state.victim && requests === LAST_DELETE) {
      state.kill();
      killed.open();
      return new Promise(() => {});
    }
    if (missing.length === 0) return { status: 204 };
    const error = {
      type: 'https://uri.etsi.org/ngsi-ld/errors/ResourceNotFound',
      title: 'none',
      status: 404,
    };
    if (single) return answer(404, error);
    const success = ids.filter((id) => !missing.includes(id));
    return answer(207, { success, errors: missing.map((entityId) => ({ entityId, error })) });
  }

  function list({ url, headers }: RecordedRequest): RecordedAnswer {
    const query = new URL(url, 'http://broker').searchParams;
    if (headers['ngsild-tenant'] !== undefined) return answer(404, { title: 'no such tenant' });
    const found = query.get('type') === 'Car' ? [...entities] : [];
    const offset = Number(query.get('offset') ?? 0);
    const page = found.slice(offset, offset + Number(query.get('limit') ?? 20));
    const count = { 'ngsild-results-count': String(found.length) };
    return answer(
      200,
      page.map((id) => ({ id, type: 'Car' })),
      count,
    );
  }

  const broker = await startRecordingBroker(answerTo);
  return { broker, entities, deletedBy, state };
}

/** A process takes long to start, and with both strategies the gateways differ only in the requests they send. */
const STRATEGIES = isThorough ? (['batch', 'single'] as const) : (['batch'] as const);

for (const strategy of STRATEGIES) {
  it(`if three gateways run the same purge and one is killed, at most one counts each entity as deleted (${strategy})`, async () => {
    const { broker, entities, deletedBy, state } = await startBroker(3);
    const env = { BROKER_URL: broker.url, PURGE_STRATEGY: strategy, PURGE_BATCH_SIZE: '100' };
    const rivalAt = async (url: string, name: string) => {
      await send(url, 'GET', `${ENTITIES}?type=${name}`);
      const { headers } = await broker.arrived((request) => request.url.includes(name));
      return { url, via: String(headers.via) };
    };
    const process = await GatewayProcess.start({ PORT: '0', LOG_LEVEL: 'silent', ...env });
    const victim = await rivalAt(await process.url(), 'Victim');
    const survivors = await Promise.all(
      ['One', 'Other'].map(async (name) => rivalAt((await startTestGateway(env)).url, name)),
    );
    state.victim = victim.via;
    state.kill = () => process.signal('SIGKILL');
    const purge = async (url: string) =>
      send(url, 'DELETE', `${ENTITIES}?type=Car`, { headers: { prefer: 'return=representation' } });
    const lost = assert.rejects(purge(victim.url));
    const answers = await Promise.all(survivors.map(async ({ url }) => purge(url)));
    await lost;
    assert.equal((await process.ended).signal, 'SIGKILL');

    assert.equal(entities.size, 0);
    let deleted = deletedBy.get(victim.via) ?? 0;
    assert.ok(deleted < TOTAL);
    for (const [index, report] of answers.entries()) {
      assert.equal(report.status, 200, report.text);
      const counts = report.json() as Record<string, number>;
      const own = deletedBy.get(survivors[index]?.via ?? '');
      // Entities listed more than two seconds earlier are queried again, and not even tried if they
      // are gone.
      const tried = (own ?? 0) + (counts['alreadyGone'] ?? 0);
      assert.deepEqual(
        [counts['matched'], counts['deleted'], counts['failed'], counts['unknown']],
        [tried, own, 0, 0],
      );
      deleted += counts['deleted'] ?? 0;
    }
    assert.equal(deleted, TOTAL);
  });
}
