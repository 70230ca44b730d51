import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startGateway } from '../support/gateway.js';
import { memoryOf } from '../support/memory-of.js';
import type { Attack, AttackContext } from './attack.js';
import type { BrokerCommand, BrokerReport } from './attack-broker-protocol.js';
import { startChild } from './child.js';
import type { HealthReport, WatchCommand } from './health-protocol.js';
import { connectMemory, inspectable, type LiveMemory } from './live-memory.js';
import { Sockets } from './sockets.js';

/** The effect of an attack on a gateway. */
export interface AttackResult {
  readonly name: string;
  /** One report per round. */
  readonly health: readonly HealthReport[];
  /** What the attacker got in the last round. */
  readonly outcome: string;
  /** Live memory before the first round and after each, in MiB. */
  readonly liveMiB: readonly number[];
  /** Peak of resident memory, in MiB. */
  readonly peakMiB: number;
  /** Number of deleted entities that no request was allowed to delete. */
  readonly outside: number;
  /** Time from SIGTERM in the middle of the attack to the end of the process. */
  readonly stopMs: number;
}

const MIB = 1024 * 1024;
/** The health is watched this long after an attack, since some work ends later. */
const AFTERMATH_MS = 2000;
/** By then, everything that the attack started has ended. */
const SETTLE_MS = 3000;
const BEFORE_STOP_MS = 1500;

/** Attacks a gateway `rounds` times, and once more while it is being stopped. */
export async function runAttack(attack: Attack, rounds: number): Promise<AttackResult> {
  const folder = await mkdtemp(join(tmpdir(), 'attack-'));
  const broker = startChild<BrokerCommand>('attack-broker.js');
  const watch = startChild<WatchCommand>('health-watch.js');
  const prepared = await attack.prepare?.();
  try {
    const { url: brokerUrl } = await broker.send<{ readonly url: string }>({ do: 'start' });
    const { port, nodeOptions } = await inspectable();
    const databasePath = join(folder, 'schema.db');
    const settings = { DATABASE_PATH: databasePath, ...attack.settings, ...prepared?.settings };
    const gateway = await startGateway(brokerUrl, settings, nodeOptions);
    prepared?.begin?.(gateway.url);
    const health: HealthReport[] = [];
    const liveMiB: number[] = [];
    let outcome = '';
    await warmUp(gateway.url);
    const memory = await connectMemory(gateway.pid, port);
    liveMiB.push(await mibOf(memory));
    for (let round = 0; round < rounds; round += 1) {
      const scene = openScene(gateway.url, databasePath);
      await watch.send({ do: 'watch', url: `${gateway.url}/health/live`, pid: gateway.pid });
      outcome = await attack.run(scene);
      await scene.close();
      await sleep(AFTERMATH_MS);
      health.push(await watch.send<HealthReport>({ do: 'report' }));
      await sleep(SETTLE_MS);
      liveMiB.push(await mibOf(memory));
    }
    const { peak } = await memoryOf(gateway.pid);
    memory.close();
    const scene = openScene(gateway.url, databasePath);
    const last = attack.run(scene).catch(() => '');
    await sleep(BEFORE_STOP_MS);
    const stoppedMs = performance.now();
    await gateway.close();
    const stopMs = performance.now() - stoppedMs;
    await scene.close();
    await last;
    const { outside } = await broker.send<BrokerReport>({ do: 'report' });
    return { name: attack.name, health, outcome, liveMiB, peakMiB: peak / MIB, outside, stopMs };
  } finally {
    broker.close();
    watch.close();
    await prepared?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function mibOf(memory: LiveMemory): Promise<number> {
  return (await memory.read()) / MIB;
}

/** Uses each kind of route once, so that memory that is kept from the first use on is allocated before measuring. */
async function warmUp(url: string): Promise<void> {
  for (const [method, target] of [
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
    ['GET', '/metrics'],
    ['GET', '/ngsi-ld/v1/entities?type=None'],
    ['DELETE', '/ngsi-ld/v1/entities?type=None'],
    ['GET', '/api/v2/domains'],
    ['GET', '/api/v2/openapi.json'],
  ] as const) {
    await (await request(`${url}${target}`, { method })).body.dump();
  }
  const body = '{"document":{"urn:a:a":1}}';
  const headers = { 'content-type': 'application/json' };
  await (
    await request(`${url}/api/v2/workbench/jsonld/expand`, { method: 'POST', headers, body })
  ).body.dump();
}

/** Opens a scene that can be closed. */
function openScene(url: string, databasePath: string): AttackContext & { close(): Promise<void> } {
  const controller = new AbortController();
  const { signal } = controller;
  setMaxListeners(0, signal);
  const sockets = new Sockets(url);
  const agent = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 });
  return {
    url,
    sockets,
    databasePath,
    signal,
    send: async (method, target, { headers, body = null } = {}) => {
      try {
        const answer = await request(`${url}${target}`, {
          method,
          dispatcher: agent,
          signal,
          body,
          headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers },
        });
        await answer.body.dump({ limit: Infinity });
        return answer.statusCode;
      } catch {
        return 0;
      }
    },
    pause: async (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
    close: async () => {
      controller.abort();
      sockets.closeAll();
      await agent.destroy();
    },
  };
}
