import { randomUUID } from 'node:crypto';
import { queryText, type PurgeParameters } from '../purge/query/parameters.js';
import type { PurgeRecord } from '../store/purge-records.js';
import type { PreparedPurge, PurgeKinds, PurgePolicy } from './purge-kinds.js';

/** A purge as its caller asks for it. */
export interface NewPurge {
  readonly target: keyof PurgeKinds;
  /** The query string, or its parameters; options such as dryRun included. */
  readonly query: string | PurgeParameters;
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

/** Where and when a record begins. */
export type RecordStart = Pick<PurgeRecord, 'state' | 'worker' | 'createdAt'>;

const NOTHING_DONE = {
  ...{ matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0, arrived: 0 },
  ...{ requests: 0, retries: 0, errors: [], warnings: [] },
};

/** Characters that are kept of a refused purge: anybody who may ask for purges may have many refused. */
const MAX_REFUSED = { query: 8 * 1024, tenant: 256, link: 4096 } as const;

/** The record of a purge that was prepared and has done nothing yet. */
export function newRecord(asked: NewPurge, prepared: PreparedPurge, start: RecordStart): PurgeRecord {
  const { dryRun, unit, maxPerSecond = null, limits } = prepared;
  return { ...recordOf(asked, start), dryRun, unit, maxPerSecond, concurrency: limits.concurrency };
}

/** The record of a purge that was refused, perhaps before it was understood. */
export function refusedRecord(
  asked: NewPurge,
  problem: PurgeRecord['problem'] & object,
  about: Omit<RecordStart, 'state'>,
): PurgeRecord {
  const record = recordOf(asked, { ...about, state: 'refused' });
  const dryRun = new URLSearchParams(record.query).getAll('dryRun').includes('true');
  return shortened({ ...record, dryRun, problem, endedAt: about.createdAt });
}

/** Without the end of what a client may make long. */
export function shortened(record: PurgeRecord): PurgeRecord {
  const { query, tenant, link } = record;
  return {
    ...record,
    query: query.slice(0, MAX_REFUSED.query),
    ...(tenant === undefined ? {} : { tenant: tenant.slice(0, MAX_REFUSED.tenant) }),
    ...(link === undefined ? {} : { link: link.slice(0, MAX_REFUSED.link) }),
  };
}

function recordOf(asked: NewPurge, start: RecordStart): PurgeRecord {
  const { target, query, caller, requestId, policy, headers, retentionPolicy } = asked;
  const tenant = headers['ngsild-tenant'] ?? headers['fiware-service'];
  const { link } = headers;
  return {
    ...{ id: randomUUID(), ...start, target, query: queryText(query), caller, requestId },
    ...(tenant === undefined ? {} : { tenant }),
    ...(link === undefined ? {} : { link }),
    ...(retentionPolicy === undefined ? {} : { retentionPolicy }),
    ...{ policy: { ...policy }, dryRun: false, maxPerSecond: null, concurrency: 1, ...NOTHING_DONE },
  };
}
