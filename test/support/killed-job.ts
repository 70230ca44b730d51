import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { PATIENT, startTestGateway } from './gateway-harness.js';
import { GatewayProcess } from './gateway-process.js';
import type { SlowBroker } from './slow-broker.js';
import { temporaryFolder } from './temporary-folder.js';

/**
 * Runs a job over all cars of a broker, with exactly their number as its maximum, and kills the
 * gateway with SIGKILL at each of the given numbers of remaining cars.
 * @returns its last record
 */
export async function runKilledJob(
  broker: SlowBroker,
  maxAffected: number,
  killAt: readonly number[],
): Promise<PurgeRecord> {
  const folder = temporaryFolder();
  const env = { PORT: '0', BROKER_URL: broker.url, DATABASE_PATH: join(folder, 'purges.db') };
  let id: string | undefined;
  for (const left of killAt) {
    const gateway = await GatewayProcess.start(env);
    const url = await gateway.url();
    id ??= await submit(url, maxAffected);
    await broker.until(left);
    gateway.signal('SIGKILL');
    await gateway.ended;
  }
  const last = await startTestGateway({ ...env, ...PATIENT });
  for (;;) {
    const record = (await last.send('GET', `/api/v2/purges/${id ?? ''}`)).json() as PurgeRecord;
    if (!['queued', 'running', 'cancelling'].includes(record.state)) return record;
    await sleep(50);
  }
}

async function submit(url: string, maxAffected: number): Promise<string> {
  const answer = await fetch(`${url}/ngsi-ld/v1/entities?type=Car&maxAffected=${String(maxAffected)}`, {
    method: 'DELETE',
    headers: { prefer: 'respond-async' },
  });
  return ((await answer.json()) as PurgeRecord).id;
}
