import { request } from 'undici';
import { maxTarget, minTarget, type Bench, type BenchResult, type Table } from './support/bench.js';
import { sized } from './support/command.js';
import { cpuMsOf } from './support/cpu-of.js';
import { forkServer } from './support/forked-server.js';
import { startGateway } from './support/gateway.js';
import { startNginx } from './support/nginx.js';
import { digits } from './support/print.js';
import { quantileOf, spreadOf } from './support/statistics.js';
import { connectWire, type WireRequest } from './support/wire-load.js';

const CONNECTIONS = 64;
/** A turn takes about a tenth of a second, so that the load of the machine affects all contestants equally. */
const TURN_REQUESTS = 1000;
const TURNS_PER_ROUND = sized({ quick: 2, default: 12 });
const WARM_UP_REQUESTS = sized({ quick: 2_000, default: 10_000 });

const ENTITY = JSON.stringify({
  id: 'urn:ngsi-ld:Vehicle:1',
  type: 'Vehicle',
  description: { type: 'Property', value: 'What this vehicle carries, and where to. '.repeat(25) },
});

const LOADS: Readonly<Record<string, WireRequest>> = {
  'GET of an entity, 0.5 kB': {
    method: 'GET',
    target: '/ngsi-ld/v1/entities/urn:ngsi-ld:Vehicle:1',
    status: 200,
  },
  'GET of a page, 30 kB': {
    method: 'GET',
    target: '/ngsi-ld/v1/entities?type=Vehicle&limit=72',
    status: 200,
  },
  'POST of an entity, 1 kB': { method: 'POST', target: '/ngsi-ld/v1/entities', body: ENTITY, status: 201 },
};

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

/** The result of one contestant in one round. */
interface Measured {
  readonly contestant: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of its process per request, in microseconds of one core. */
  readonly cpuUs: number;
}

/** All contestants, by load and round. */
type Rounds = Readonly<Record<string, readonly (readonly Measured[])[]>>;

const GATEWAY = 'gateway';
const TRACED = 'gateway, 1 % traced';
const BARE = 'bare Node proxy';
/** Receives the spans; it answers every request. */
const COLLECTOR = 'pass-through-broker.js';

/** Requests that pass through to the broker, compared with a bare Node proxy, and with nginx if it is installed. */
export const passThrough: Bench = {
  name: 'pass-through',
  async run({ rounds, log }) {
    const broker = await forkServer('pass-through-broker.js', '');
    const closers: (() => unknown)[] = [() => broker.close()];
    try {
      const gateway = await startGateway(broker.url);
      closers.push(() => gateway.close());
      const collector = await forkServer(COLLECTOR, '');
      closers.push(() => collector.close());
      const traced = await startGateway(broker.url, {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER_ARG: '0.01',
      });
      closers.push(() => traced.close());
      const bare = await forkServer('bare-proxy.js', broker.url);
      closers.push(() => bare.close());
      const nginx = await startNginx(broker.url);
      if (nginx === undefined) log('there is no nginx on the PATH');
      else closers.push(() => nginx.close());
      const contestants: Contestant[] = [
        { name: GATEWAY, url: gateway.url, pid: gateway.pid },
        { name: TRACED, url: traced.url, pid: traced.pid },
        { name: BARE, url: bare.url, pid: bare.pid },
        ...(nginx === undefined ? [] : [{ name: 'nginx, one worker', url: nginx.url, pid: nginx.pid }]),
      ];
      const results: Record<string, (readonly Measured[])[]> = {};
      for (const [name, load] of Object.entries(LOADS)) {
        for (const { url } of contestants) await checkAnswer(broker.url, url, load);
        log(`${name}, warming up`);
        await round(contestants, load, WARM_UP_REQUESTS, 1);
        results[name] = [];
        for (let number = 1; number <= rounds; number++) {
          log(`${name}, round ${number} of ${rounds}`);
          results[name].push(await round(contestants, load, TURN_REQUESTS, TURNS_PER_ROUND));
        }
      }
      return resultOf(results);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  },
};

/** Checks a proxy. @throws Error unless it answers with the same bytes as the broker */
async function checkAnswer(brokerUrl: string, proxyUrl: string, load: WireRequest): Promise<void> {
  const answer = async (url: string) => {
    const { statusCode, body } = await request(url + load.target, {
      method: load.method as 'GET' | 'POST',
      body: load.body ?? null,
    });
    return `${statusCode} ${await body.text()}`;
  };
  if ((await answer(proxyUrl)) !== (await answer(brokerUrl)))
    throw new Error(`${proxyUrl} does not answer as the broker does.`);
}

/** Contestants take `turns` turns each, in alternating order. */
async function round(
  contestants: readonly Contestant[],
  load: WireRequest,
  requests: number,
  turns: number,
): Promise<readonly Measured[]> {
  const lanes = await Promise.all(
    contestants.map(async (contestant) => ({
      contestant,
      client: await connectWire(contestant.url, CONNECTIONS),
      elapsedMs: 0,
      cpuMs: 0,
      latenciesMs: [] as number[],
    })),
  );
  for (let turn = 0; turn < turns; turn++) {
    for (const lane of turn % 2 === 0 ? lanes : lanes.toReversed()) {
      const cpuMs = await cpuMsOf(lane.contestant.pid);
      const { elapsedMs, latenciesMs } = await lane.client.load(load, requests);
      lane.cpuMs += (await cpuMsOf(lane.contestant.pid)) - cpuMs;
      lane.elapsedMs += elapsedMs;
      lane.latenciesMs.push(...latenciesMs);
    }
  }
  for (const { client } of lanes) client.close();
  return lanes.map(({ contestant, elapsedMs, cpuMs, latenciesMs }) => ({
    contestant: contestant.name,
    perSecond: (latenciesMs.length / elapsedMs) * 1000,
    p50Ms: quantileOf(latenciesMs, 0.5),
    p99Ms: quantileOf(latenciesMs, 0.99),
    cpuUs: (cpuMs / latenciesMs.length) * 1000,
  }));
}

function resultOf(results: Rounds): BenchResult {
  const loads = Object.entries(results);
  return {
    tables: loads.map(([load, rounds]) => tableOf(load, rounds)),
    targets: loads.flatMap(([load, rounds]) => {
      const perSecond = spreadOf(rounds.map((all) => ratioOf(all, 'perSecond')));
      const p99 = spreadOf(rounds.map((all) => ratioOf(all, 'p99Ms')));
      const traced = spreadOf(rounds.map((all) => ratioOf(all, 'perSecond', TRACED, GATEWAY)));
      return [
        minTarget(`${load}: requests/s, gateway / bare proxy`, perSecond, 0.9),
        maxTarget(`${load}: p99, gateway / bare proxy`, p99, 1.5),
        minTarget(`${load}: requests/s, 1 % traced / not`, traced, 0.9),
      ];
    }),
    data: { connections: CONNECTIONS, loads: results },
  };
}

function tableOf(load: string, rounds: Rounds[string]): Table {
  const names = (rounds[0] ?? []).map(({ contestant }) => contestant);
  return {
    title: `${load}, ${CONNECTIONS} connections; medians of ${rounds.length} rounds`,
    columns: ['', 'requests/s', 'least', 'most', 'p50, ms', 'p99, ms', 'CPU, µs/request'],
    rows: names.map((name) => {
      const spread = (value: Value) => spreadOf(rounds.map((all) => measuredOf(all, name)[value]));
      const { median, min, max } = spread('perSecond');
      const others = (['p50Ms', 'p99Ms', 'cpuUs'] as const).map((value) => spread(value).median);
      return [name, ...[median, min, max, ...others].map(digits)];
    }),
  };
}

type Value = 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs';

function ratioOf(round: readonly Measured[], value: Value, one = GATEWAY, other = BARE): number {
  return measuredOf(round, one)[value] / measuredOf(round, other)[value];
}

function measuredOf(round: readonly Measured[], name: string): Measured {
  const found = round.find(({ contestant }) => contestant === name);
  if (found === undefined) throw new Error(`Nothing was measured of ${name}.`);
  return found;
}
