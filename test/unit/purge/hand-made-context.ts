import { createCapabilities } from '../../../sidecar/purge/broker/capabilities.js';
import type { BrokerRequest } from '../../../sidecar/purge/broker/client.js';
import type { BrokerReply } from '../../../sidecar/purge/broker/exchange.js';
import {
  createPurgeScope,
  type PurgeContext,
  type PurgeLimits,
  type PurgeScope,
  type BrokerQuery,
} from '../../../sidecar/purge/run/context.js';
import type { PurgeEvent } from '../../../sidecar/purge/run/events.js';
import { createRequester } from '../../../sidecar/purge/requests/requester.js';
import type { PurgeQuery } from '../../../sidecar/purge/query/selection.js';
import { createTestClock } from '../../support/purge-harness.js';

export interface HandMadePurge {
  readonly brokerQuery: BrokerQuery;
  /** The broker, as a function; undefined where no request gets to it. */
  readonly broker?: (request: BrokerRequest) => BrokerReply | Promise<BrokerReply>;
  readonly query?: Partial<PurgeQuery>;
  readonly limits?: Partial<PurgeLimits>;
  /** Told of the deletes that a request may make, before it is sent. */
  readonly reserve?: (deletes: number) => Promise<void>;
  readonly emit?: (event: PurgeEvent) => void;
  /** Sent with each request; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The context of a purge whose broker is a function: no sockets, and no waiting. */
export function contextOf(purge: HandMadePurge): PurgeContext {
  return scopeOf(purge).open(purge.brokerQuery);
}

/** The same before its query is opened. */
export function scopeOf({
  brokerQuery,
  broker,
  query,
  limits,
  headers = {},
  reserve,
  emit = () => {},
}: HandMadePurge): PurgeScope {
  const clock = createTestClock();
  const requester = createRequester({
    client: {
      send: async (request) => {
        if (broker === undefined) throw new Error(`nobody answers ${request.method} ${request.path}`);
        return broker(request);
      },
      close: async () => {},
    },
    headers,
    reserve:
      reserve &&
      (async (deletes) => {
        await reserve(deletes);
        return () => {};
      }),
    retry: { maxAttempts: 3, minDelayMs: 1, maxDelayMs: 10, awayMs: 30_000 },
    clock,
    random: () => 0,
    signal: new AbortController().signal,
    probe: { method: 'GET', path: `${brokerQuery.resource.path}?limit=1`, operation: 'answer' },
  });
  return createPurgeScope(
    {
      query: {
        selection: brokerQuery.selection,
        ids: undefined,
        idPattern: undefined,
        dryRun: false,
        maxAffected: undefined,
        maxPerSecond: undefined,
        record: undefined,
        ...query,
      },
      limits: {
        pageSize: 10,
        pageSizeMax: 10,
        batchSize: 10,
        concurrency: 4,
        strategy: 'auto',
        maxAffected: undefined,
        ...limits,
      },
      requester,
      capabilities: createCapabilities(clock),
      clock,
      emit,
    },
    brokerQuery.resource.path,
  );
}
