import { isRefusedStatus } from '../client/errors.js';
import { createBrokerClient } from '../purge/broker/index.js';
import {
  PolicyRefusedError,
  PurgeStoppedError,
  QueryRefusedError,
  type PurgeEvent,
  type PurgeProgress,
  type PurgeReport,
  RateLimiter,
} from '../purge/index.js';
import { configuredKinds } from '../jobs/configured-kinds.js';
import { preparePurge, type PreparedPurge } from '../jobs/purge-kinds.js';
import { problemOf, unexpectedProblem } from '../http/problem.js';
import type { Config } from '../shared/config/load.js';
import type { Clock } from '../shared/clock.js';
import { defined } from '../shared/defined.js';
import { optionParameters } from '../shared/purge-options.js';
import { createViaName } from '../shared/via.js';
import { CliError, EXIT, usage } from './exit-codes.js';
import { headersOf, type PurgeBackend, type PurgeRequest } from './purge-backend.js';
import type { PurgeView } from './purge-view.js';
import { valuesIn } from './query-text.js';

export interface BrokerBackendOptions {
  readonly brokerUrl: URL;
  /** Limits and retries, as for a gateway. */
  readonly config: Config;
  readonly authorization: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Runs purges in this process, with the gateway's engine, directly against a broker. */
export function createBrokerBackend(options: BrokerBackendOptions): PurgeBackend {
  const { brokerUrl, config, authorization, clock } = options;
  const client = createBrokerClient({
    brokerUrl,
    timeoutMs: config.BROKER_TIMEOUT_MS,
    viaName: createViaName(),
  });

  const kinds = configuredKinds(config, { client, clock, random: options.random });

  /** @throws CliError for a purge that is refused before anything is sent */
  function prepare(request: PurgeRequest, dryRun: boolean): PreparedPurge {
    if (valuesIn(request.query, 'record').length > 0)
      throw usage('record=ids needs a gateway to keep the list: use --gateway.');
    try {
      const headers = { ...headersOf(request), ...defined({ authorization }) };
      const { target } = request;
      return preparePurge(kinds, { target, query: queryOf(request, dryRun), policy: {}, headers });
    } catch (error) {
      if (error instanceof QueryRefusedError || error instanceof PolicyRefusedError)
        throw usage(error.message, { cause: error });
      throw error;
    }
  }

  function start(purge: PreparedPurge, signal: AbortSignal, onEvent?: OnEvent): Promise<PurgeReport> {
    const rateLimiter = new RateLimiter(clock, purge.query.maxPerSecond);
    return purge.run({ limits: purge.limits, rateLimiter, onEvent }, signal);
  }

  return {
    async preview(request, signal) {
      try {
        const { matched, sample, unit, isLowerBound, hints } = await start(prepare(request, true), signal);
        return { matched, sample, ...defined({ unit, atLeast: isLowerBound, hints }) };
      } catch (error) {
        const known = problemOf(error)?.problem;
        if (error instanceof CliError || known === undefined) throw error;
        const code = isRefusedStatus(known.status) ? EXIT.refused : EXIT.failed;
        throw new CliError(code, known.detail ?? known.title, { cause: error });
      }
    },
    run(request, signal) {
      const purge = prepare(request, false);
      return purgeViews(
        request,
        purge.unit,
        (onEvent, stopped) => start(purge, AbortSignal.any([signal, stopped]), onEvent),
        clock,
      );
    },
    detach: async () => {
      throw usage('--detach starts the purge on a gateway: it needs --gateway.');
    },
    close: () => client.close(),
  };
}

type OnEvent = (event: PurgeEvent) => void;

/**
 * Runs a purge and yields its state in the form of a gateway's purge record: the latest state while the purge runs, and the
 * final one when it has ended.
 */
export async function* purgeViews(
  { target, query, tenant }: PurgeRequest,
  unit: PreparedPurge['unit'],
  run: (onEvent: OnEvent, stopped: AbortSignal) => Promise<PurgeReport>,
  clock: Pick<Clock, 'now'>,
): AsyncGenerator<PurgeView, void> {
  const startedAt = new Date(clock.now()).toISOString();
  let view: PurgeView = {
    state: 'running',
    target,
    unit,
    query,
    dryRun: false,
    startedAt,
    ...defined({ tenant }),
    matched: 0,
    deleted: 0,
    alreadyGone: 0,
    failed: 0,
    unknown: 0,
    requests: 0,
  };
  let counted = 0;
  const ended = () => ({ endedAt: new Date(clock.now()).toISOString() });
  yield view;
  const stop = new AbortController();
  const news = { isThere: false, isOver: false, hasBegun: false, wake: () => {} };
  const tell = () => {
    news.isThere = true;
    news.wake();
  };
  const running = run((event) => {
    if (event.type === 'counted') counted = Math.max(counted, event.matches);
    if (event.type === 'progress') {
      news.hasBegun ||= event.hasBegun;
      view = { ...view, ...countsOf(event) };
    }
    tell();
  }, stop.signal);
  const over = () => {
    news.isOver = true;
    tell();
  };
  running.then(over, over);
  try {
    for (;;) {
      if (!news.isThere) await new Promise<void>((resolve) => (news.wake = resolve));
      news.isThere = false;
      if (news.isOver) break;
      // Until everything is listed, the broker's count is the better estimate.
      yield { ...view, matched: Math.max(view.matched, counted) };
    }
    const report = await running;
    const { errors, warnings, arrived, failed, unknown } = report;
    const isWhole = failed + unknown + warnings.length === 0;
    const shown = { errors: errors.slice(0, 100), warnings, arrived };
    yield { ...view, ...countsOf(report), ...shown, ...ended(), state: isWhole ? 'succeeded' : 'partial' };
  } catch (error) {
    const problem = problemOf(error)?.problem ?? unexpectedProblem();
    const isCancelled = error instanceof PurgeStoppedError;
    const failed = isRefusedStatus(problem.status) && !news.hasBegun ? 'refused' : 'failed';
    yield {
      ...view,
      ...ended(),
      state: isCancelled ? 'cancelled' : failed,
      ...(isCancelled ? {} : { problem }),
    };
  } finally {
    stop.abort();
    // Wait for the deletes in progress, even if the views are no longer read.
    await running.catch(() => {});
  }
}

function countsOf(counted: PurgeProgress | PurgeReport) {
  const { matched, deleted, alreadyGone, failed, unknown, requests } = counted;
  return { matched, deleted, alreadyGone, failed, unknown, requests };
}

/** @param dryRun count all matches; the other options are then omitted */
function queryOf({ query, options }: PurgeRequest, dryRun: boolean): string {
  return [query, ...optionParameters(dryRun ? { dryRun } : options)].join('&');
}
