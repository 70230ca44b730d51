import { isRefusedStatus } from '../client/errors.js';
import { configuredKinds } from '../jobs/configured-kinds.js';
import { createBrokerClient } from '../purge/broker/index.js';
import { RateLimiter, parseScanQuery, PurgeStoppedError, QueryRefusedError } from '../purge/index.js';
import { newScanRecord } from '../scans/scan-record.js';
import { runScan, noMatchWarnings } from '../scans/scan-run.js';
import { ScanResults } from '../scans/scan-results.js';
import type { ScanRecord } from '../store/index.js';
import { problemOf, unexpectedProblem } from '../http/problem.js';
import type { Config } from '../shared/config/load.js';
import { defined } from '../shared/defined.js';
import { createViaName } from '../shared/via.js';
import type { CliContext } from './context.js';
import { usage } from './exit-codes.js';
import type { ScanBackend } from './scan-command.js';

/** Time between two records, in milliseconds. */
const UPDATE_MS = 250;

/**
 * Runs scans in this process, with the gateway's engine, directly against a broker. They need a schema, because a broker has no
 * models.
 */
export function createBrokerScanBackend(
  brokerUrl: URL,
  config: Config,
  authorization: string | undefined,
  context: CliContext,
): ScanBackend {
  const { clock } = context;
  return async function* scan(request, signal) {
    const { query, tenant, link, schema, sample } = request;
    if (schema === undefined || request.model !== undefined || request.domain !== undefined)
      throw usage('A broker has no models: name a schema with --schema, or a gateway with --gateway.');
    const parsed = parsedQuery(query);
    const headers = defined({ 'ngsild-tenant': tenant, link, authorization });
    const client = createBrokerClient({
      brokerUrl,
      timeoutMs: config.BROKER_TIMEOUT_MS,
      viaName: createViaName(),
    });
    const { limits, dependencies } = configuredKinds(config, { client, clock, random: Math.random }).entities;
    const models = await context.openModels();
    const tally = new ScanResults();
    const now = () => new Date(clock.now()).toISOString();
    const asked = { ...request, headers, policy: {}, caller: 'cli', requestId: '-' };
    let record: ScanRecord = { ...newScanRecord(asked, 'cli', now()), state: 'running', startedAt: now() };
    const current = (): ScanRecord => ({ ...record, ...tally.counts, warnings: tally.warnings });
    const over = new AbortController();
    const ended = (async () => {
      const judge = await models.judge.forScan({ candidate: schema });
      return runScan(
        {
          query: parsed,
          headers,
          limits,
          sample,
          judge,
          results: tally,
          rateLimiter: new RateLimiter(clock, request.maxPerSecond),
          onJudged: async () => {},
          onEvent: (event) => {
            if (event.type === 'counted') record = { ...record, expected: event.matches };
          },
        },
        dependencies,
        signal,
      );
    })().then(
      (report): Partial<ScanRecord> => {
        const isCut = report.isLowerBound === true && sample === undefined;
        const isWhole = !isCut && report.warnings.length === 0 && !tally.isIncomplete;
        const warnings = [...report.warnings, ...noMatchWarnings(report), ...tally.warnings];
        return { state: isWhole ? 'succeeded' : 'partial', matched: report.matched, warnings };
      },
      (error: unknown): Partial<ScanRecord> => {
        if (error instanceof PurgeStoppedError) return { state: 'cancelled' };
        const problem = problemOf(error)?.problem ?? unexpectedProblem();
        return { state: isRefusedStatus(problem.status) ? 'refused' : 'failed', problem };
      },
    );
    void ended.finally(() => over.abort());
    try {
      while (!over.signal.aborted) {
        yield shown(current());
        await clock.sleep(UPDATE_MS, over.signal).catch(() => undefined);
      }
      yield shown({ ...current(), ...(await ended), endedAt: now() });
    } finally {
      await models.close();
      await client.close();
    }
  };
}

/** @throws CliError for a query that is refused before anything is sent */
function parsedQuery(query: string) {
  try {
    return parseScanQuery(query);
  } catch (error) {
    if (error instanceof QueryRefusedError) throw usage(error.message, { cause: error });
    throw error;
  }
}

function shown({ target: _target, policy: _policy, problem, findings, ...record }: ScanRecord) {
  const shownProblem = problem as unknown as Record<string, unknown> | undefined;
  return { ...record, findings: [...findings], ...defined({ problem: shownProblem }) };
}
