import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { settings } from '../../sidecar/shared/config/settings.js';
import { entityIds, startBroker } from '../support/broker.js';
import { sized } from '../support/command.js';
import { measureMemory } from '../support/gateway-memory.js';
import { startGateway, type GatewaySettings } from '../support/gateway.js';
import { deleteKnown, listAll } from '../support/baselines.js';
import { startShapedBroker } from '../support/shaped.js';
import { timed } from '../support/statistics.js';
import { PLAIN, SHAPES } from '../shapes.js';
import { cpuTimed, Curves, minimumOf, type GrowthBench } from './part.js';

const TYPE = 'Shaped';
const AMOUNTS = sized({
  quick: [300, 1_000, 3_000],
  default: [1_000, 3_000, 10_000, 30_000, 100_000],
  large: [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
});
/** Above this, a broker whose pages get slower with their offset takes minutes to list. */
const BY_OFFSET_MAX = 100_000;
const PAGE_SIZE = Number(settings.PURGE_PAGE_SIZE.default);
const BATCH_SIZE = Number(settings.PURGE_BATCH_SIZE.default);
const CONCURRENCY = Number(settings.PURGE_CONCURRENCY.default);

/** The shapes whose curves differ. */
const GROWING = ['all costs constant', 'delete grows from the head', 'page grows with its offset'] as const;

const KNOWN = ': list, then delete known ids';

/** The time of a purge with brokers of several shapes, compared with listing all ids and deleting known ids. */
export const purgeTimes: GrowthBench = async ({ rounds, log }) => {
  const names = GROWING.flatMap((name) => [name, name + KNOWN]);
  const curves = new Curves(names, (name) => name.endsWith(KNOWN));
  for (const name of GROWING) {
    const shape = SHAPES[name] ?? PLAIN;
    const broker = await startShapedBroker(shape);
    const gateway = await startGateway(broker.url);
    try {
      for (const amount of AMOUNTS) {
        if (shape.page === 'by-offset' && amount > BY_OFFSET_MAX) continue;
        log(`${name}, ${amount} matches`);
        const ids = entityIds(TYPE, amount);
        const known = async () => {
          const listed = await listAll(broker.url, TYPE, { amount, pageSize: PAGE_SIZE });
          await deleteKnown(broker.url, listed, { batchSize: BATCH_SIZE, concurrency: CONCURRENCY });
        };
        const ways = { [`${name}${KNOWN}`]: known, [name]: async () => gateway.purge(TYPE, amount) };
        for (const [way, run] of Object.entries(ways)) {
          const measure = async () => {
            await broker.seed(ids);
            return timed(run);
          };
          curves.add(way, amount, await minimumOf(rounds, measure));
        }
      }
    } finally {
      await gateway.close();
      broker.close();
    }
  }
  const title = 'Time of a purge, by broker';
  return [{ name: 'purge-time', title, x: 'matches', y: 'ms', curves: curves.all() }];
};

const NOT_ARCHIVED = 'not archived';
const ARCHIVED = 'archived';

/** CPU time and memory of purges that are archived, compared with those that are not. */
export const purgeArchives: GrowthBench = async ({ rounds, log }) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-growth-'));
  const keeping: GatewaySettings = { PURGE_ARCHIVE: 'required', ARCHIVE_URL: pathToFileURL(folder).href };
  const ways = { [NOT_ARCHIVED]: {}, [ARCHIVED]: keeping };
  const times = new Curves([ARCHIVED, NOT_ARCHIVED], (name) => name === NOT_ARCHIVED);
  const memory = new Curves([ARCHIVED, NOT_ARCHIVED, LIMIT], (name) => name === LIMIT);
  try {
    const shaped = await startShapedBroker({ ...PLAIN, entityBytes: 1000 });
    for (const [name, given] of Object.entries(ways)) {
      const gateway = await startGateway(shaped.url, given);
      for (const amount of AMOUNTS.filter((each) => each <= 100_000)) {
        log(`${name}, ${amount} matches`);
        const measure = async () => {
          await shaped.seed(entityIds(TYPE, amount));
          return cpuTimed(gateway.pid, async () => gateway.purge(TYPE, amount));
        };
        times.add(name, amount, await minimumOf(rounds, measure));
      }
      await gateway.close();
    }
    shaped.close();
    const broker = await startBroker(0);
    for (const amount of AMOUNTS) {
      for (const [name, given] of Object.entries(ways)) {
        log(`memory, ${name}, ${amount} matches`);
        await broker.seed(TYPE, amount);
        const purge = async (gateway: { purge(type: string, amount: number): Promise<void> }) =>
          gateway.purge(TYPE, amount);
        const { peakMiB } = await measureMemory(broker.url, amount, purge, given);
        memory.add(name, amount, peakMiB);
      }
    }
    await broker.close();
  } finally {
    await rm(folder, { recursive: true });
  }
  const [, plain] = memory.all();
  for (const [amount] of plain?.points ?? [])
    memory.add(LIMIT, amount, (plain?.points[0]?.[1] ?? NaN) + MORE_MIB);
  const x = 'matches';
  return [
    {
      name: 'archive-time',
      title: 'CPU time of a purge of entities of 1 kB',
      x,
      y: 'ms of a core',
      curves: times.all(),
    },
    { name: 'purge-memory', title: 'Peak of the gateway’s memory', x, y: 'MiB', curves: memory.all() },
  ];
};

/** How much more memory a purge may need than the smallest one. */
const MORE_MIB = 64;
const LIMIT = `limit of purges that are not archived: ${MORE_MIB} MiB above the smallest`;
