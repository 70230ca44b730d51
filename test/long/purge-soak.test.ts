import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { sendJson, startTestBroker, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { seededRandom } from '../support/stub-broker-state.js';

after(stopAll);

const ROUNDS = 1200;
const ENTITIES = 5000;
/** Cars slower than 50, which are 45 of each hundred. */
const MATCHING = 2250;
const MIB = 1024 * 1024;

function seedRound(broker: EmbeddedBroker, round: number): void {
  broker.entities.seed(ENTITIES, (n) => ({
    id: `urn:ngsi-ld:Car:${String(round)}-${String(n)}`,
    type: n % 10 === 0 ? 'Lorry' : 'Car',
    speed: { type: 'Property', value: n % 100 },
  }));
}

/** Resident memory of a process, in bytes (Linux). */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

it('a gateway purges for minutes with constant memory, deleting exactly the matches, although clients disconnect and write', async () => {
  const broker = await startTestBroker();
  const gateway = await GatewayProcess.start({ PORT: '0', HOST: '127.0.0.1', BROKER_URL: broker.url });
  const url = await gateway.url();
  const random = seededRandom(11);
  const resident: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    seedRound(broker, round);
    const target = `${url}/ngsi-ld/v1/entities?type=Car&q=${encodeURIComponent('speed<50')}`;

    // A third of the clients disconnect during the purge; the next request purges what they leave.
    if (random() < 0.33) {
      const leaving = new AbortController();
      const left = fetch(target, { method: 'DELETE', signal: leaving.signal }).catch(() => undefined);
      for (let turn = Math.floor(random() * 20); turn > 0; turn -= 1) await fetch(`${url}/health/live`);
      leaving.abort();
      await left;
    }
    const writer = sendJson(broker.url, 'POST', '/ngsi-ld/v1/entityOperations/upsert', [
      { id: `urn:ngsi-ld:Bus:${String(round)}`, type: 'Bus', speed: { type: 'Property', value: 1 } },
    ]);
    const answer = await fetch(target, { method: 'DELETE' });
    assert.equal(answer.status, 204, await answer.text());
    await writer;

    assert.equal(broker.entities.count(), ENTITIES - MATCHING + round + 1);
    const rest = await fetch(`${url}/ngsi-ld/v1/entities?type=Car,Lorry`, { method: 'DELETE' });
    assert.equal(rest.status, 204, await rest.text());
    assert.equal(broker.entities.count(), round + 1, 'only what was written meanwhile stays');
    resident.push(await residentBytes(gateway.pid));
  }
  // V8 enlarges its heap once by some 60 MB within the first rounds, and later on a busy machine.
  const early = median(resident.slice(ROUNDS / 2, (ROUNDS * 2) / 3));
  const late = median(resident.slice(-ROUNDS / 6));
  assert.ok(late - early < 24 * MIB, `${String(early)} bytes resident early, ${String(late)} late`);
});
