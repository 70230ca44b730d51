import { PURGE_STATES } from '../../jobs/purge-service.js';
import { COUNT, STRINGS, TEXT, TIME } from './schema-types.js';

/** Without members that are undefined. */
export function defined<Value extends object>(
  value: Value,
): { [Name in keyof Value]?: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [Name in keyof Value]?: Exclude<Value[Name], undefined>;
  };
}

export const TARGET = { type: 'string', enum: ['entities', 'temporal'] } as const;
export const UNIT = { type: 'string', enum: ['entities', 'attributes', 'datasets', 'instances'] } as const;
export const POSITIVE = { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 } as const;
export const HEADER_TEXT = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
} as const;

/** The record of a purge. */
export const PURGE = {
  title: 'Purge',
  type: 'object',
  properties: {
    id: TEXT,
    state: { type: 'string', enum: PURGE_STATES },
    target: TARGET,
    unit: UNIT,
    ...{ query: TEXT, tenant: TEXT, link: TEXT, caller: TEXT, requestId: TEXT, worker: TEXT },
    retentionPolicy: TEXT,
    heldBack: { type: 'boolean', description: 'A run that matched too many, and so only reported them.' },
    waitsFor: { ...TEXT, description: 'The broker that a queued purge waits for: BROKER_URL names another.' },
    dryRun: { type: 'boolean' },
    policy: { type: 'object' },
    maxPerSecond: { type: ['integer', 'null'] },
    concurrency: COUNT,
    ...{ matched: COUNT, deleted: COUNT, alreadyGone: COUNT, failed: COUNT, unknown: COUNT, arrived: COUNT },
    ...{ requests: COUNT, retries: COUNT },
    expected: COUNT,
    ratePerSecond: { type: 'number' },
    ...{ estimatedEndAt: TIME, createdAt: TIME, startedAt: TIME, endedAt: TIME },
    problem: { type: 'object' },
    errors: { type: 'array', items: { type: 'object' } },
    warnings: STRINGS,
    sample: STRINGS,
  },
  required: [
    ...['id', 'state', 'target', 'query', 'caller', 'requestId', 'worker', 'dryRun', 'policy'],
    ...['maxPerSecond', 'concurrency', 'matched', 'deleted', 'alreadyGone', 'failed', 'unknown', 'arrived'],
    ...['requests', 'retries', 'createdAt', 'errors', 'warnings'],
  ],
} as const;
