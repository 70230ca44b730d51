import { goodBehaviour } from '../../sidecar/embedded-broker/behaviour.js';
import type { Behaviour, EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  send,
  startTestBroker,
  startTestGateway,
  type Answer,
  type SendOptions,
  type TestGateway,
} from './gateway-harness.js';

/** Returns the time that many hours after the beginning of 2025, as written in queries. */
export function hour(n: number): string {
  return new Date(Date.UTC(2025, 0, 1, n)).toISOString();
}

export const TEMPORAL = '/ngsi-ld/v1/temporal/entities';

export interface SensorsOptions {
  readonly entities?: number;
  /** Instances of each attribute, one for each hour; entity n has n fewer. */
  readonly instances?: number;
}

/**
 * Adds sensors with a temperature (every fourth instance in the dataset `urn:ds:b`), a humidity,
 * and a status with a few instances that were never observed. Sensors with an odd number have no
 * humidity.
 */
export function seedSensors(
  broker: EmbeddedBroker,
  { entities = 6, instances = 20 }: SensorsOptions = {},
): void {
  broker.temporal.seed(entities, (index) => {
    const hours = Array.from({ length: Math.max(1, instances - index) }, (_, n) => n);
    return {
      id: `urn:ngsi-ld:Sensor:${index}`,
      type: 'Sensor',
      temperature: hours.map((n) => ({
        type: 'Property',
        value: n + index,
        observedAt: hour(n),
        ...(n % 4 === 3 ? { datasetId: 'urn:ds:b' } : {}),
      })),
      ...(index % 2 === 1
        ? {}
        : { humidity: hours.map((n) => ({ type: 'Property', value: n, observedAt: hour(n) })) }),
      status: ['on', 'off'].map((value) => ({ type: 'Property', value })),
    };
  });
  broker.temporal.seed(3, (index) => ({
    id: `urn:ngsi-ld:Meter:${index}`,
    type: 'Meter',
    temperature: { type: 'Property', value: index, observedAt: hour(1) },
  }));
}

export interface TemporalSetup {
  readonly broker: EmbeddedBroker;
  readonly gateway: TestGateway;
  readonly purge: (query: string, options?: SendOptions) => Promise<Answer>;
}

/** Starts a gateway in front of a broker with sensors, which then misbehaves as configured. */
export async function startTemporal(
  behaviour: Partial<Behaviour> = {},
  { env = {}, ...sensors }: SensorsOptions & { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<TemporalSetup> {
  const broker = await startTestBroker();
  seedSensors(broker, sensors);
  Object.assign(broker.behaviour, behaviour);
  const gateway = await startTestGateway({ BROKER_URL: broker.url, ...env });
  return {
    broker,
    gateway,
    purge: (query, options) => gateway.send('DELETE', `${TEMPORAL}?${query}`, options),
  };
}

/** Returns every existing instance, as `entity attribute instanceId`. */
export function instancesOf(broker: EmbeddedBroker): Set<string> {
  return new Set(broker.temporal.ids().flatMap((id) => keysOf(broker.temporal.get(id) ?? {})));
}

/** Returns what a GET for a query shows if the broker meanwhile has only the given behaviour. */
export async function shownBy(
  broker: EmbeddedBroker,
  query: string,
  behaviour: Partial<Behaviour> = {},
): Promise<Set<string>> {
  const told = { ...broker.behaviour };
  Object.assign(broker.behaviour, goodBehaviour(), behaviour);
  try {
    const answer = await send(broker.url, 'GET', `${TEMPORAL}?${query}&limit=1000`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return new Set((answer.json() as Readonly<Record<string, unknown>>[]).flatMap(keysOf));
  } finally {
    Object.assign(broker.behaviour, told);
  }
}

function keysOf(entity: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(entity).flatMap(([attribute, shown]) => {
    if (['id', 'type', '@context', 'scope'].includes(attribute)) return [];
    const instances = [shown].flat() as { readonly instanceId: string }[];
    return instances.map(({ instanceId }) => `${String(entity['id'])} ${attribute} ${instanceId}`);
  });
}

export function without(all: ReadonlySet<string>, gone: ReadonlySet<string>): Set<string> {
  return new Set([...all].filter((key) => !gone.has(key)));
}

/**
 * Counts the deletes that reached the broker, by route; a DELETE of a collection would be included.
 */
export function deletesOf(broker: EmbeddedBroker): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...broker.requests.counts]
      .filter(([key]) => !key.startsWith('GET ') && !key.startsWith('POST '))
      .map(([key, count]) => [key.replace('DELETE /ngsi-ld/v1/temporal/entities', ''), count]),
  );
}
