import { Client, request } from 'undici';
import { sized } from './command.js';

/** Latency of GET /health/live, in milliseconds. */
export interface HealthLatency {
  readonly label: string;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const SAMPLES = sized({ quick: 300, default: 2_000 });
const HOSTILE = sized({ quick: 2, default: 10 });

/**
 * Measures the latency of a gateway's health check while nothing runs, and while ten validations hang in a pattern that
 * backtracks.
 */
export async function healthUnderLoad(gatewayUrl: string): Promise<readonly HealthLatency[]> {
  await hostileModel(gatewayUrl);
  await sampled(gatewayUrl, '', () => false);
  const idle = await sampled(gatewayUrl, 'nothing else runs', () => false);
  let running = HOSTILE;
  const hanging = Array.from({ length: HOSTILE }, async () => {
    await hang(gatewayUrl);
    running -= 1;
  });
  const busy = await sampled(gatewayUrl, `while ${HOSTILE} validations hang`, () => running === 0);
  await Promise.all(hanging);
  return [idle, busy];
}

/** Sends requests one at a time, each a millisecond after the previous answer, until there are enough or `isOver` is true. */
async function sampled(gatewayUrl: string, label: string, isOver: () => boolean): Promise<HealthLatency> {
  const client = new Client(gatewayUrl);
  const took: number[] = [];
  while (took.length < SAMPLES && !isOver()) {
    const startedMs = performance.now();
    const { statusCode, body } = await client.request({ method: 'GET', path: '/health/live' });
    await body.dump();
    took.push(performance.now() - startedMs);
    if (statusCode !== 200) throw new Error(`GET /health/live answered ${statusCode}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await client.close();
  took.sort((a, b) => a - b);
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(part * took.length))] ?? 0;
  return { label, p50: at(0.5), p99: at(0.99), max: at(1) };
}

async function hostileModel(gatewayUrl: string): Promise<void> {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string', pattern: '^(a|a)*$' } },
  };
  await post(`${gatewayUrl}/api/v2/domains/Bench/models`, { name: 'Hostile', schema }, 201);
}

async function hang(gatewayUrl: string): Promise<void> {
  const entity = { id: 'urn:ngsi-ld:Hostile:1', type: 'Hostile', name: `${'a'.repeat(60)}!` };
  await post(`${gatewayUrl}/api/v2/validate/Bench/Hostile`, entity, 504);
}

async function post(url: string, body: unknown, status: number): Promise<void> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    headersTimeout: 0,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== status) throw new Error(`POST ${url}: ${answer.statusCode} ${text}`);
}
