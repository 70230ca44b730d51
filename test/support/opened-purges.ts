import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { openPurges, type OpenPurges } from '../../sidecar/open-purges.js';
import {
  type BrokerReply,
  RequestAbortedError,
  type BrokerRequest,
} from '../../sidecar/purge/broker/index.js';
import type { RetentionPolicies, RetentionPolicy } from '../../sidecar/store/index.js';
import { loadConfig } from '../../sidecar/shared/config/load.js';
import { KeptPurges } from './kept-purges.js';
import { createTestClock } from './purge-harness.js';

/** Opens the purges of a gateway; the test plays everything around them. */

export const NEVER = new AbortController().signal;
export const EMPTY: BrokerReply = {
  status: 200,
  headers: new Map([['ngsild-results-count', '0']]),
  body: '[]',
};

const opened: OpenPurges[] = [];

/** Stops and closes everything that was opened. */
export async function closeOpened(): Promise<void> {
  for (const purges of opened.splice(0)) {
    purges.stop();
    await purges.close();
  }
}

/** Runs everything that only waits for its turn of the event loop. */
export const turns = async () => {
  for (let index = 0; index < 30; index += 1) await turn();
};

/** A request for a purge. */
export const order = (query = 'type=T', headers: Readonly<Record<string, string>> = {}) => ({
  target: 'entities' as const,
  query,
  policy: {},
  caller: 'c',
  requestId: 'r',
  headers,
});

/**
 * Opens the purges of a gateway with these settings, and records their calls. The broker is empty
 * by default.
 */
export function purgesOf(
  env: Readonly<Record<string, string>> = {},
  brokerUrl = 'http://orion:1026',
  kept = new KeptPurges(),
) {
  const config = loadConfig({ BROKER_URL: 'http://orion:1026', DATABASE_PATH: ':memory:', ...env });
  const clock = createTestClock();
  const [told, metered]: [string[], string[]] = [[], []];
  const state = {
    answer: (async () => EMPTY) as (request: BrokerRequest) => Promise<BrokerReply>,
    policies: [] as RetentionPolicy[],
  };
  const log = (level: string) => (fields: object, message: string) => {
    const { policy, purgeId } = fields as { policy?: string; purgeId?: string };
    told.push([level, policy ?? '', policy === undefined ? '' : (purgeId ?? ''), message].join(' '));
  };
  const logger = {
    debug: log('debug'),
    warn: log('warn'),
    error: log('error'),
    info: (fields: object | string, message?: string) =>
      typeof fields === 'string' ? told.push(`info ${fields}`) : log('info')(fields, message ?? ''),
  } as unknown as FastifyBaseLogger;
  const purges = openPurges(config, {
    broker: {
      url: new URL(brokerUrl),
      client: { send: (request) => state.answer(request), close: async () => {} },
      aheadMs: () => undefined,
    },
    isBrokerUp: async () => true,
    store: {
      jobs: kept.store,
      plans: kept.plans,
      retention: {
        enabled: async () => state.policies,
        claim: async (name: string) => {
          state.policies = state.policies.filter((policy) => policy.name !== name);
          return true;
        },
      } as unknown as RetentionPolicies,
    },
    clock,
    random: () => 0,
    logger,
    metrics: {
      scans: { ended: (outcome) => metered.push(`ended scan ${outcome}`) },
      retention: {
        enabled: () => {},
        ran: (name, outcome) => metered.push(`ran ${name} ${outcome}`),
      },
      purges: {
        started: (target) => metered.push(`started ${target}`),
        deleted: (target, items) => metered.push(`deleted ${target} ${items}`),
        ended: (target, outcome) => metered.push(`ended ${target} ${outcome}`),
        retried: () => metered.push('retried'),
        recordLost: () => metered.push('lost'),
        archiveFailed: () => metered.push('archive failed'),
        restored: (outcome) => metered.push(`restored ${outcome}`),
      },
    },
  });
  opened.push(purges);
  const given = (name: string) => kept.calls.filter((call) => call.name === name).map((call) => call.given);
  return { purges, kept, clock, told, metered, state, given };
}

/** A broker that never answers, until the request is aborted. */
export function unanswered({ signal }: BrokerRequest): Promise<BrokerReply> {
  return new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(new RequestAbortedError('aborted')), { once: true }),
  );
}

/** A policy that was due the whole time. */
export const policy = (name: string): RetentionPolicy => ({
  name,
  settings: {
    target: 'entities',
    query: 'type=T',
    olderThan: 'P1D',
    by: 'modifiedAt',
    schedule: '* * * * *',
    timeZone: 'UTC',
    maxGrowth: 3,
    mode: 'report',
    enabled: true,
  },
  author: { caller: 'ada', policy: {} },
  doneUntil: 0,
  createdAt: 0,
  modifiedAt: 0,
  etag: 'e',
});
