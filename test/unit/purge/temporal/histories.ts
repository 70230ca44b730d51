import {
  createBrokerClient,
  type BrokerClient,
  type BrokerRequest,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import {
  startEmbeddedBroker,
  type Behaviour,
  type EmbeddedBroker,
} from '../../../../sidecar/embedded-broker/index.js';
import { attributeNames } from '../../../../sidecar/ngsi-ld/members.js';
import type { PurgeReport } from '../../../../sidecar/purge/run/index.js';
import { systemClock, type Clock } from '../../../../sidecar/shared/clock.js';
import { purgeHistory, type PurgeOptions } from '../../../support/purge-harness.js';

const opened: EmbeddedBroker[] = [];

/** Closes every broker that was started, for a file's `after` hook. */
export async function closeBrokers(): Promise<void> {
  await Promise.all(opened.splice(0).map((broker) => broker.close()));
}

/** Hours after the first moment of 2025, in the notation of a query. */
export const hour = (n: number) => new Date(Date.UTC(2025, 0, 1, n)).toISOString();

/** One instance: the attribute and entity, the time, and the dataset. */
export interface Stored {
  readonly entity: number;
  readonly attribute: string;
  readonly hour: number;
  readonly dataset: string | undefined;
  /** Its place in the list of its attribute, unless given. */
  readonly value?: number;
}

export const idOf = (entity: number) => `urn:ngsi-ld:T:${entity}`;

/** A broker with these instances of entities of type T, and with one entity of another type. */
export async function brokerWith(
  history: readonly Stored[],
  behaviour: Partial<Behaviour> = {},
  clock: Clock = systemClock,
): Promise<EmbeddedBroker> {
  const broker = await startEmbeddedBroker({ clock });
  opened.push(broker);
  const entities = [...new Set(history.map(({ entity }) => entity))];
  broker.temporal.seed(entities.length, (index) => {
    const own = history.filter(({ entity }) => entity === entities[index]);
    const attributes = [...new Set(own.map(({ attribute }) => attribute))];
    return {
      id: idOf(entities[index] ?? 0),
      type: 'T',
      ...Object.fromEntries(
        attributes.map((attribute) => [
          attribute,
          own
            .filter((instance) => instance.attribute === attribute)
            .map(({ hour: at, dataset, value }, index) => ({
              type: 'Property',
              value: value ?? index,
              observedAt: hour(at),
              ...(dataset === undefined ? {} : { datasetId: dataset }),
            })),
        ]),
      ),
    };
  });
  broker.temporal.seed(1, () => ({
    id: 'urn:ngsi-ld:Other:1',
    type: 'Other',
    a: { type: 'Property', value: 1, observedAt: hour(1) },
  }));
  Object.assign(broker.behaviour, behaviour);
  return broker;
}

/** The content of entities, one text for each instance, sorted. */
export function textsOf(entities: readonly Readonly<Record<string, unknown>>[]): string[] {
  return entities
    .flatMap((entity) =>
      attributeNames(entity).flatMap((attribute) =>
        ([entity[attribute]].flat() as { readonly observedAt: string; readonly datasetId?: string }[]).map(
          ({ observedAt, datasetId }) =>
            `${String(entity['id'])} ${attribute} ${observedAt} ${datasetId ?? '-'}`,
        ),
      ),
    )
    .sort();
}

/** The remaining instances of type T. */
export function kept({ temporal }: EmbeddedBroker): string[] {
  const ids = temporal.ids().filter((id) => id !== 'urn:ngsi-ld:Other:1');
  return textsOf(ids.map((id) => temporal.get(id) ?? {}));
}

/** In the form of {@link textsOf}. */
export const textOf = ({ entity, attribute, hour: at, dataset }: Stored) =>
  `${idOf(entity)} ${attribute} ${hour(at)} ${dataset ?? '-'}`;

/** Deletes that reached the broker. */
export const deletes = ({ requests }: EmbeddedBroker) =>
  requests.entries.filter(({ method }) => method === 'DELETE').length;

/** Purges without waiting; never throws. */
export const purge = async ({ url }: EmbeddedBroker, query: string, options: PurgeOptions = {}) =>
  purgeHistory({ url: new URL(url) }, query, options);

/** The report of a purge that must end with a report. */
export async function purged(...given: Parameters<typeof purge>): Promise<PurgeReport> {
  const { report, error } = await purge(...given);
  if (report === undefined) throw error;
  return report;
}

/** An instance with default values, except for the given ones. */
export function stored(more: Partial<Stored>): Stored {
  return { entity: 0, attribute: 'a', hour: 1, dataset: undefined, ...more };
}

/** A client that answers differently from the broker. */
export function altering(
  { url }: EmbeddedBroker,
  alter: (request: BrokerRequest, reply: BrokerReply) => BrokerReply,
): BrokerClient {
  const client = createBrokerClient({ brokerUrl: new URL(url), timeoutMs: 10_000 });
  return {
    send: async (request) => alter(request, await client.send(request)),
    close: () => client.close(),
  };
}

/** One instance in each of some entities. */
export const oneInEach = (entities: number, more: Partial<Stored> = {}): readonly Stored[] =>
  Array.from({ length: entities }, (_, entity) => stored({ entity, ...more }));
