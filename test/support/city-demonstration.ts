import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import pLimit from 'p-limit';
import { ApiClient } from '../integration/api-client.js';
import { City, CITY_DOCUMENTS, CITY_TYPES, type CityEntity, whole } from './city-models.js';
import { BATCH_ROUTES, type CityWriter, oddJson, SINGLE_ROUTES, startWriteWitness } from './city-writes.js';
import { cli } from './cli-process.js';
import { PATIENT, startTestBroker, startTestGateway, type TestGateway } from './gateway-harness.js';
import { type Scan, scanned, startScan } from './scans.js';

export interface CitySize {
  readonly entities: number;
  /** How many entities violate their model. */
  readonly broken: number;
  /** Entities in a batch. */
  readonly batch: number;
}

const QUERY = `type=${CITY_TYPES.join(',')}`;

/** Concurrent requests. */
const AT_ONCE = 16;

/**
 * The tests that show the purpose of models. With eight models imported, a scan finds exactly the
 * entities that violate their model. On every route, an enforcing policy refuses the same entities
 * and forwards the others unchanged.
 */
export function demonstrateCity(size: CitySize): void {
  describe(`a city of ${size.entities} entities, of which ${size.broken} violate their model in five ways`, () => {
    const city = new City(size.entities, size.broken);
    const all = city.all();
    const broken = all.filter(({ way }) => way !== undefined);
    const valid = all.filter(({ way }) => way === undefined);
    let gateway: TestGateway;
    let api: ApiClient;
    let writer: CityWriter;

    before(async () => {
      const broker = await startTestBroker();
      broker.entities.seed(city.size, (index) => whole(city.entity(index)));
      const witness = await startWriteWitness(broker.url);
      gateway = await startTestGateway({ BROKER_URL: witness.url, LOG_LEVEL: 'silent', ...PATIENT });
      writer = witness.writer(gateway.url);
      api = await ApiClient.of(gateway.url);
      const imported = await api.post('/import?domain=City', { documents: CITY_DOCUMENTS });
      const { files } = imported.json() as { readonly files: readonly { readonly status: string }[] };
      assert.deepEqual([...new Set(files.map(({ status }) => status))], ['created'], imported.text);
      const policy = { mode: 'enforce', onUnjudged: 'refuse', batch: 'valid-only' };
      assert.equal((await api.put('/write-policies/city', policy)).status, 201);
    });

    it('a scan of a city finds exactly the invalid entities, each by its fault', async () => {
      const record = await scanned(gateway.url, await startScan(gateway.url, { query: QUERY }));
      await assertFound(record);
    });

    it('a scan by the command line finds exactly the invalid entities', async () => {
      const { code, stdout } = await cli(['scan', QUERY, '--json', '--gateway', gateway.url]);
      assert.equal(code, 3);
      await assertFound(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Scan);
    });

    for (const [name, route] of Object.entries(SINGLE_ROUTES))
      it(`${name} refuses invalid entities under an enforcing policy, and forwards valid ones byte for byte`, async () => {
        const others = valid.filter((_, index) => index % Math.ceil(valid.length / broken.length) === 0);
        const outcomes = await inTurns([...broken, ...others], async (entity) => {
          const write = route(entity);
          if (write === undefined) return undefined;
          const body = write.body === undefined ? '' : oddJson(write.body);
          const { status, reached, text } = await writer.write(write, body);
          const isFine = entity.way === undefined ? status === 204 && reached === 'same' : status === 400;
          return isFine && (entity.way === undefined || reached === 'not')
            ? undefined
            : `${entity.id} (${entity.way ?? 'valid'}): ${status}, ${reached} ${text}`;
        });
        assert.deepEqual(outcomes.filter((one) => one !== undefined).slice(0, 3), []);
      });

    for (const [path, written] of Object.entries(BATCH_ROUTES))
      it(`POST ${path} refuses invalid entities under an enforcing policy, and forwards valid ones byte for byte`, async () => {
        const refused: string[] = [];
        const batches: (readonly CityEntity[])[] = [];
        for (let from = 0; from < all.length; from += size.batch)
          batches.push(all.slice(from, from + size.batch));
        await inTurns(batches, async (batch) => {
          const texts = batch.map((entity) => oddJson(written(entity)).trim());
          const left = texts.filter((_, index) => batch[index]?.way === undefined);
          const sent = left.length === texts.length ? undefined : `[${left.join(',')}]`;
          const answer = await writer.write({ method: 'POST', path }, `[ ${texts.join(' ,\n')}]\r\n`, sent);
          assert.deepEqual(
            [answer.status, answer.reached],
            [sent === undefined ? 204 : 207, 'same'],
            answer.text,
          );
          if (sent === undefined) return;
          const { errors } = JSON.parse(answer.text) as { errors: readonly { entityId: string }[] };
          refused.push(...errors.map(({ entityId }) => entityId));
        });
        assert.deepEqual(refused.toSorted(), broken.map(({ id }) => id).toSorted());
      });

    /**
     * Asserts that the findings have exactly the invalid entities, and that those of one finding
     * have the same fault.
     */
    async function assertFound(record: Scan): Promise<void> {
      const { state, matched, checked, valid: good, invalid, notJudged, warnings } = record;
      assert.deepEqual(
        { state, matched, checked, good, invalid, notJudged, warnings },
        {
          state: 'succeeded',
          matched: all.length,
          checked: all.length,
          good: valid.length,
          invalid: broken.length,
          notJudged: 0,
          warnings: [],
        },
      );
      const wayOf = new Map(broken.map(({ id, type, way }) => [id, `${type} ${way ?? ''}`]));
      const found = new Set<string>();
      for (const [position, { entities, model }] of record.findings.entries()) {
        const path = `/scans/${record.id}/entities?finding=${position}`;
        const lines = await gateway.send('GET', `/api/v2${path}`, {
          headers: { accept: 'application/x-ndjson' },
        });
        const ids = lines.text
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { id: string }).id);
        assert.deepEqual([ids.length, new Set(ids).size], [entities, entities]);
        const ways = new Set(ids.map((id) => wayOf.get(id)));
        assert.equal(ways.size, 1, [...ways].join());
        assert.match([...ways][0] ?? '', new RegExp(`^${model} `));
        for (const id of ids) found.add(id);
      }
      assert.deepEqual([...found].toSorted(), [...wayOf.keys()].toSorted());
    }
  });
}

function inTurns<Item, Outcome>(
  items: readonly Item[],
  work: (item: Item) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const limit = pLimit(AT_ONCE);
  return Promise.all(items.map((item) => limit(work, item)));
}
