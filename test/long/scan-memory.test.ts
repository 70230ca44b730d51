import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { after, it } from 'node:test';
import { send, stopAll, stopLater } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { listening } from '../support/listening.js';
import { BROKEN_ENTITIES, roomEntity, ROOMS, type Scan, startScan, storeRoom } from '../support/scans.js';

after(stopAll);

const ENTITIES = 1_000_000;
const MIB = 1024;
/** Some 30 bytes for each entity; the rest is garbage that has not been collected yet. */
const MAY_GROW = 200 * MIB;

/** Starts a broker that generates its entities on request. */
async function startGenerator(): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const parameters = new URL(incoming.url ?? '', 'http://broker').searchParams;
    const isMeant = parameters.get('type') === 'Room' && incoming.headers['ngsild-tenant'] === undefined;
    const total = isMeant ? ENTITIES : 0;
    const from = Number(parameters.get('offset') ?? 0);
    const to = Math.min(total, from + Number(parameters.get('limit') ?? 20));
    const page = Array.from({ length: Math.max(0, to - from) }, (_, index) => roomEntity(from + index));
    outgoing.writeHead(200, { 'content-type': 'application/json', 'ngsild-results-count': String(total) });
    outgoing.end(JSON.stringify(page));
  });
  const { url, close } = await listening(server);
  stopLater(close);
  return url;
}

/** Returns the resident memory of a process, in kB. */
function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

const OPTIONS =
  process.platform === 'linux' ? {} : { skip: 'only Linux says how much memory a process uses' };

it(
  'a scan of a million entities finds all invalid ones, and needs no more memory than for the first quarter',
  OPTIONS,
  async (t) => {
    const gateway = await GatewayProcess.start({
      PORT: '0',
      BROKER_URL: await startGenerator(),
      LOG_LEVEL: 'warn',
    });
    const url = await gateway.url();
    await storeRoom(url);
    const id = await startScan(url, { query: 'type=Room' });
    let [first, most] = [0, 0];
    let record: Scan;
    do {
      await pause(200);
      record = (await send(url, 'GET', `/api/v2/scans/${id}`)).json() as Scan;
      const now = residentKb(gateway.pid);
      if (record.checked < ENTITIES / 4) first = Math.max(first, now);
      else most = Math.max(most, now);
    } while (record.endedAt === undefined);
    t.diagnostic(
      `at most ${Math.round(first / MIB)} MiB in the first quarter, and ${Math.round(most / MIB)} after it`,
    );
    const broken = BROKEN_ENTITIES * (ENTITIES / ROOMS);
    assert.deepEqual(
      [record.state, record.checked, record.invalid],
      ['succeeded', ENTITIES, Math.round(broken)],
    );
    assert.ok(most - first < MAY_GROW, `${first} kB, then ${most} kB`);
  },
);
