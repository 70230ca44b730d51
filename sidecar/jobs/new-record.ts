import { randomUUID } from 'node:crypto';
import type { PurgeRecord } from '../store/purge-records.js';
import type { PurgePolicy } from './policy.js';
import type { PreparedPurge, PurgeKinds } from './purge-kinds.js';

/** A purge as it is asked for. */
export interface PurgeOrder {
  readonly target: keyof PurgeKinds;
  /** The query string, extensions such as dryRun included. */
  readonly query: string;
  /** Sent to the broker with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: PurgePolicy;
  /** Who asks, for the record. */
  readonly caller: string;
  readonly requestId: string;
  /** The retention policy that it is a run of. */
  readonly retentionPolicy?: string | undefined;
  /** With more matches than this, it only reports them, and deletes nothing. */
  readonly reportAbove?: number | undefined;
}

const NO_COUNTS = {
  ...{ matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0, arrived: 0 },
  ...{ requests: 0, retries: 0 },
};

/** The record of a purge that was not looked at yet. */
export function newRecord(
  order: PurgeOrder,
  about: Pick<PurgeRecord, 'state' | 'worker' | 'createdAt'>,
): PurgeRecord {
  const { target, query, caller, requestId, policy, headers, retentionPolicy } = order;
  const tenant = headers['ngsild-tenant'] ?? headers['fiware-service'];
  const { link } = headers;
  return {
    ...{ id: randomUUID(), ...about, target, query, caller, requestId },
    ...(tenant === undefined ? {} : { tenant }),
    ...(link === undefined ? {} : { link }),
    ...(retentionPolicy === undefined ? {} : { retentionPolicy }),
    ...{ policy: { ...policy }, dryRun: asksForDryRun(query), maxPerSecond: null, concurrency: 1 },
    ...{ ...NO_COUNTS, errors: [], warnings: [] },
  };
}

/** What a query asks for that may be refused before the rest of it is understood. */
function asksForDryRun(query: string): boolean {
  return new URLSearchParams(query).getAll('dryRun').includes('true');
}

/** What the record of a purge says of its query and its limits. */
export function preparedMembers(
  prepared: PreparedPurge,
): Pick<PurgeRecord, 'dryRun' | 'unit' | 'maxPerSecond' | 'concurrency'> {
  const { dryRun, unit, maxPerSecond = null, limits } = prepared;
  return { dryRun, unit, maxPerSecond, concurrency: limits.concurrency };
}
