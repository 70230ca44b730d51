import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { request } from 'undici';
import { minTarget, type Bench, type BenchOptions, type Target } from './support/bench.js';
import { startBroker, type BenchBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { cpuMsOf } from './support/cpu-of.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { spreadOf } from './support/statistics.js';
import { write } from './schema-service.js';

const TYPE = 'Scanned';
const AMOUNT = sized({ quick: 10_000, default: 50_000 });
const PAGE = 1000;
/** With these, an entity has about 1 kB. */
const ATTRIBUTES = 9;
/** Speeds range from 0 to 179, so one of any 180 entities is invalid. */
const FASTEST = 178;
const INVALID = Array.from({ length: AMOUNT }, (_, index) => index % 180).filter(
  (speed) => speed > FASTEST,
).length;

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uri' },
    type: { const: TYPE },
    speed: { type: 'number', minimum: 0, maximum: FASTEST },
    brandName: { type: 'string', minLength: 1 },
    ...Object.fromEntries(
      Array.from({ length: ATTRIBUTES }, (_, number) => [
        `attribute${number}`,
        number % 2 === 0
          ? { type: 'integer', minimum: 0, maximum: 1000 }
          : { type: 'string', pattern: '^of the \\d+th district$' },
      ]),
    ),
  },
  required: ['id', 'type', 'speed'],
};

/** Number of entities judged per second of one core, and per second. */
interface Rates {
  readonly perCore: number;
  readonly perSecond: number;
}

/** The rates of one round. */
type Measured = Readonly<Record<'bare' | 'script' | 'scan', Rates>>;

/**
 * A scan compared with Ajv alone, which parses the same pages, extracts the values and validates them: pages that it
 * already has, and, as a script would, pages that it requests from the broker one after the other.
 */
export const scans: Bench = {
  name: 'scans',
  async run({ rounds, log }: BenchOptions) {
    const broker = await startBroker(0);
    try {
      await broker.seed(TYPE, AMOUNT, ATTRIBUTES);
      const gateway = await startGateway(broker.url);
      try {
        await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
        const model = { name: TYPE, schema: SCHEMA };
        await write(gateway, 'POST', '/api/v2/domains/Bench/models', model, 201);
        const pages: string[] = [];
        for await (const page of listed(broker)) pages.push(page);
        const bytes = pages.reduce((sum, page) => sum + page.length, 0) / AMOUNT;
        const [bare, script] = [bareAjv(() => pages), bareAjv(() => listed(broker))];
        const measured: Measured[] = [];
        // The first round is a warm-up.
        for (let round = 0; round <= rounds; round += 1) {
          log(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
          const one = {
            bare: await ratesOf(process.pid, bare),
            script: await ratesOf(process.pid, script),
            scan: await scanned(gateway),
          };
          if (round > 0) measured.push(one);
        }
        return resultOf(measured, bytes);
      } finally {
        await gateway.close();
      }
    } finally {
      await broker.close();
    }
  },
};

/** Yields all pages as the broker sends them. */
async function* listed({ url }: BenchBroker): AsyncGenerator<string, void> {
  for (let offset = 0; offset < AMOUNT; offset += PAGE) {
    const { body } = await request(`${url}/ngsi-ld/v1/entities?type=${TYPE}&limit=${PAGE}&offset=${offset}`);
    yield await body.text();
  }
}

type Properties = Readonly<Record<string, string | { readonly value: unknown }>>;

function bareAjv(pages: () => Iterable<string> | AsyncIterable<string>): () => Promise<void> {
  const validate = new Ajv2020({ strict: false, formats: fullFormats }).compile(SCHEMA);
  return async () => {
    let invalid = 0;
    for await (const page of pages())
      for (const entity of JSON.parse(page) as readonly Properties[]) {
        const keyValues: Record<string, unknown> = {};
        for (const [name, given] of Object.entries(entity))
          keyValues[name] = typeof given === 'string' ? given : given.value;
        if (!validate(keyValues)) invalid += 1;
      }
    demand(invalid, AMOUNT);
  };
}

function scanned({ url, pid }: BenchGateway): Promise<Rates> {
  return ratesOf(pid, async () => {
    const started = await request(`${url}/api/v2/scans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `type=${TYPE}` }),
    });
    const { id } = (await started.body.json()) as { readonly id: string };
    const { body } = await request(`${url}/api/v2/scans/${id}/events`);
    const last = (await body.text()).split('\n').findLast((line) => line.startsWith('data: '));
    const { invalid, checked } = JSON.parse(last?.slice(6) ?? '{}') as Readonly<Record<string, number>>;
    demand(invalid, checked);
  });
}

function demand(invalid: number | undefined, checked: number | undefined): void {
  if (invalid !== INVALID || checked !== AMOUNT)
    throw new Error(`${String(invalid)} of ${String(checked)} are invalid, and not ${INVALID} of ${AMOUNT}.`);
}

/** The CPU time is that of all threads of a process. */
async function ratesOf(pid: number, work: () => Promise<void>): Promise<Rates> {
  const [startedMs, cpuMs] = [performance.now(), await cpuMsOf(pid)];
  await work();
  const usedMs = (await cpuMsOf(pid)) - cpuMs;
  return { perCore: AMOUNT / (usedMs / 1000), perSecond: AMOUNT / ((performance.now() - startedMs) / 1000) };
}

function resultOf(measured: readonly Measured[], bytes: number) {
  const of = (name: keyof Measured, rate: keyof Rates) => spreadOf(measured.map((one) => one[name][rate]));
  const row = (label: string, name: keyof Measured) => [
    label,
    ...(['perCore', 'perSecond'] as const).map((rate) => {
      const { median, min, max } = of(name, rate);
      return `${digits(median)} (${digits(min)}–${digits(max)})`;
    }),
  ];
  const perCore = of('scan', 'perCore');
  const least = 20_000;
  const speed: Target = {
    name: 'scan, entities/s and core',
    wanted: `>= ${least}`,
    measured: perCore.median,
    spread: perCore,
    reached: perCore.median >= least,
  };
  const ratio = spreadOf(measured.map(({ bare, scan }) => scan.perCore / bare.perCore));
  return {
    tables: [
      {
        title: `${AMOUNT.toLocaleString('en')} entities of ${digits(bytes)} bytes`,
        columns: ['', 'entities/s and core', 'entities/s'],
        rows: [
          row('bare Ajv, from the bytes of the pages', 'bare'),
          row('a script that lists them, with bare Ajv', 'script'),
          row('POST /api/v2/scans', 'scan'),
        ],
      },
    ],
    targets: [speed, minTarget('scan / bare Ajv, per core', ratio, 0.5)],
    data: { measured, bytes },
  };
}
