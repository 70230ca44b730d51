import type { TestContext } from 'node:test';
import { startStubBroker, type Fault, type StubBroker, type StubBrokerOptions } from './stub-broker.js';
import type { StubRequest } from './stub-broker-state.js';

export interface KilledBroker {
  readonly broker: StubBroker;
  /** Ids in deletes that were sent and got no answer. */
  readonly unanswered: ReadonlySet<string>;
  /** Makes the broker work again, permanently. */
  readonly revive: () => void;
}

export interface KilledBrokerOptions extends Pick<StubBrokerOptions, 'entities'> {
  /** Whether the batches in flight were executed; true by default. */
  readonly carriesOut?: boolean;
  /** What a query by ids gets from then on; undefined means its real answer. */
  readonly look?: Fault | undefined;
}

/** Batches in flight when the broker is killed. */
const IN_FLIGHT = 3;

/** Smaller batches are answered, because a purge may begin with a small one. */
const LARGE = 400;

/** Whether a request is the query for the outcome of deletes without an answer. */
export const isLook = ({ kind, query }: StubRequest): boolean => kind === 'query' && query.has('id');

/** Starts a broker that is killed with three large batches in flight, and then breaks every connection. */
export async function startKilledBroker(
  test: TestContext,
  { carriesOut = true, entities = [], ...options }: KilledBrokerOptions,
): Promise<KilledBroker> {
  const unanswered = new Set<string>();
  const look = 'look' in options ? options.look : 'reset-before';
  let isDead = false;
  let isRevived = false;
  let dying = 0;
  const broker = await startStubBroker(test, {
    entities,
    fault: (request) => {
      isDead ||= request.ids.length >= LARGE;
      if (!isDead || isRevived) return undefined;
      if (isLook(request)) return look;
      for (const id of request.ids) unanswered.add(id);
      const isInFlight = request.kind === 'batch' && ++dying <= IN_FLIGHT;
      return isInFlight && carriesOut ? 'reset-after' : 'reset-before';
    },
  });
  return {
    broker,
    unanswered,
    revive: () => {
      isRevived = true;
    },
  };
}
