import { deleteEvolution, listInstances, postEvolution } from './temporal-requests.js';

/** Temporal entities of one type, each with the same attributes. The instances of an attribute are one second apart. */
export interface Histories {
  readonly type: string;
  readonly entities: number;
  /** Number of instances of each attribute before the cutoff, which the purge should delete. */
  readonly before: number;
  /** Number of instances of each attribute from the cutoff on, which stay. */
  readonly after: number;
}

const ATTRIBUTES = ['temperature', 'humidity'];
const CUTOFF = '2026-01-01T00:00:00Z';
const PAGE_SIZE = 1000;

/** Returns the query for all instances before the cutoff, as a client would write it. */
export function queryBefore({ type }: Histories): string {
  return `type=${type}&timerel=before&timeAt=${CUTOFF}`;
}

/** Returns the number of instances before the cutoff. */
export function amountBefore({ entities, before }: Histories): number {
  return entities * ATTRIBUTES.length * before;
}

/**
 * Puts the histories into a broker, replacing those of an earlier call, and queries them once. That way, work that a broker
 * does at the first query, such as building an index, is not included in any measurement.
 */
export async function seedHistories(brokerUrl: string, histories: Histories): Promise<void> {
  for (let index = 0; index < histories.entities; index++) {
    const evolution = evolutionOf(histories, index);
    await deleteEvolution(brokerUrl, evolution.id);
    await postEvolution(brokerUrl, evolution);
  }
  await checkHistories(brokerUrl, histories, amountBefore(histories));
}

/**
 * Checks what is left.
 *
 * @throws Error unless the broker shows `before` instances before the cutoff, and all from the cutoff on
 */
export async function checkHistories(brokerUrl: string, histories: Histories, before: number): Promise<void> {
  const after = amountBefore({ ...histories, before: histories.after });
  for (const [timerel, amount] of Object.entries({ before, after })) {
    const query = `type=${histories.type}&timerel=${timerel}&timeAt=${CUTOFF}&limit=${PAGE_SIZE}`;
    const { length } = await listInstances(brokerUrl, query);
    if (length !== amount)
      throw new Error(`The broker shows ${length} instances ${timerel} the cutoff, not ${amount}.`);
  }
}

function evolutionOf({ type, before, after }: Histories, index: number) {
  const cutoffMs = Date.parse(CUTOFF);
  const instances = Array.from({ length: before + after }, (_, at) => ({
    type: 'Property',
    value: at,
    observedAt: new Date(cutoffMs + (at - before) * 1000).toISOString(),
  }));
  return {
    id: `urn:ngsi-ld:${type}:${index}`,
    type,
    ...Object.fromEntries(ATTRIBUTES.map((name) => [name, instances])),
  };
}
