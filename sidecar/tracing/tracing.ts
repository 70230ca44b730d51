import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { BrokerRequestEnd } from '../purge/broker/index.js';
import type { PurgeEvent } from '../purge/index.js';
import { parseTraceparent, type Traceparent } from '../shared/traceparent.js';
import { isFinal, type JobRecord, kindOf } from '../store/index.js';

export type Tracing = ReturnType<typeof createTracing>;

/** A running job: its span and the span of its current phase. */
interface TracedJob {
  readonly span: Span;
  phase: { readonly name: string; readonly span: Span } | undefined;
}

/** The phase that a job enters with an event of its engine. */
const PHASES: Readonly<Partial<Record<PurgeEvent['type'], string>>> = {
  counted: 'delete',
  progress: 'delete',
  drained: 'check',
};

/**
 * Records the work of this gateway as spans. Its methods never throw, and no span contains a query, a header or a body.
 *
 * @param tracer records every span that is started
 * @param samplingRatio of the requests and jobs without a trace of their own, 0 to 1, that are traced
 * @param flush sends the spans that have ended
 */
export function createTracing(tracer: Tracer, samplingRatio: number, flush: () => Promise<void>) {
  const jobs = new Map<string, TracedJob>();

  /**
   * Decided before a span is created, because most requests have none, and creating one would cost up to a tenth of the
   * request.
   */
  function isTraced(parent: Traceparent | undefined): boolean {
    return parent?.isSampled ?? Math.random() < samplingRatio;
  }

  function beginPhase(job: TracedJob, name: string): void {
    if (job.phase?.name === name) return;
    const startTime = Date.now();
    job.phase?.span.end(startTime);
    job.phase = { name, span: tracer.startSpan(name, { startTime }, trace.setSpan(ROOT_CONTEXT, job.span)) };
  }

  function endJob({ span, phase }: TracedJob): void {
    const endedMs = Date.now();
    phase?.span.end(endedMs);
    span.end(endedMs);
  }

  return {
    /**
     * Called when a request has arrived. If its span is recorded, the span becomes the `traceparent` of everything that
     * this gateway does for the request; requests that are passed through keep their own.
     */
    request(req: IncomingMessage, res: ServerResponse): void {
      const { method = '', headers } = req;
      const parent = parseParent(headers['traceparent']);
      if (!isTraced(parent)) return;
      const route = routeOf(req.url ?? '');
      const span = tracer.startSpan(
        `${KNOWN_METHODS.has(method) ? method : 'HTTP'} ${route}`,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': route } },
        contextOf(parent),
      );
      headers['traceparent'] = traceparentOf(span);
      res.once('close', () => {
        const { statusCode, writableFinished } = res;
        span.setAttribute('http.response.status_code', statusCode);
        if (statusCode >= 500 || !writableFinished) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
    },
    brokerAnswered({ method, path, traceparent, status, noAnswer, ms }: BrokerRequestEnd): void {
      const parent = parseParent(traceparent);
      if (parent?.isSampled !== true) return;
      const endedMs = Date.now();
      const route = routeOf(`/ngsi-ld/v1${path}`);
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.CLIENT,
          startTime: endedMs - ms,
          attributes: { 'http.request.method': method, 'http.route': route },
        },
        contextOf(parent),
      );
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (noAnswer !== undefined) span.setAttribute('error.type', noAnswer);
      if (status === undefined || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endedMs);
    },
    /** Called when a job starts in this process, for each of its events, and when it ends here. */
    jobs: {
      started(record: JobRecord): void {
        const { id, target, requestId, traceparent, createdAt } = record;
        const parent = parseParent(traceparent);
        // Requests were sampled when they arrived; a scheduled run has no request.
        const isRun = record.target !== 'scan' && record.retentionPolicy !== undefined;
        if (isRun ? !isTraced(parent) : parent?.isSampled !== true) return;
        const startTime = Date.now();
        const attributes = {
          'ngsild.job.id': id,
          'ngsild.job.target': target,
          'ngsild.request.id': requestId,
          'ngsild.job.queued_ms': startTime - Date.parse(createdAt),
        };
        const options = { startTime, attributes };
        const span = tracer.startSpan(`${kindOf(record)} ${target}`, options, contextOf(parent));
        const job: TracedJob = { span, phase: undefined };
        beginPhase(job, 'list');
        jobs.set(id, job);
      },
      event({ id }: JobRecord, { type }: PurgeEvent): void {
        const job = jobs.get(id);
        if (job === undefined) return;
        const phase = PHASES[type];
        // Retries in the last phase report progress, too.
        if (phase !== undefined && job.phase?.name !== 'check') beginPhase(job, phase);
        if (type === 'broker-away' || type === 'broker-back') job.span.addEvent(type);
      },
      ended(record: JobRecord): void {
        const job = jobs.get(record.id);
        if (job === undefined) return;
        jobs.delete(record.id);
        const { state, matched, requests, retries, problem } = record;
        job.span.setAttributes({
          'ngsild.job.state': state,
          'ngsild.job.matched': matched,
          'ngsild.job.requests': requests,
          'ngsild.job.retries': retries,
        });
        if (isFinal(state) && state !== 'succeeded' && state !== 'cancelled')
          job.span.setStatus({ code: SpanStatusCode.ERROR, message: problem?.title ?? state });
        endJob(job);
      },
    },
    /** Ends open spans and sends the remaining ones, within two seconds. */
    async close(): Promise<void> {
      for (const job of jobs.values()) endJob(job);
      jobs.clear();
      await flush();
    },
  };
}

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** The routes that appear in spans. Any other path comes from a client and may contain anything. */
const ROUTE = new RegExp(
  '^(?:/ngsi-ld/v1/(?:temporal/)?(?:entities|entityOperations|entityMaps|attributes|csourceRegistrations|' +
    'csourceSubscriptions|info|jsonldContexts|snapshots|subscriptions|types)' +
    '|/api/v2/(?:contexts|domains|export|import|me|models|openapi.json|purges|references|retention-policies|' +
    'scans|status|validate|workbench|write-checks|write-policies)' +
    '|/(?:api|console|health|metrics|ngsi-ld))(?=[/?]|$)',
);

/** Returns the route of a request's path; never an identifier. */
function routeOf(target: string): string {
  return ROUTE.exec(target)?.[0] ?? '/';
}

/** Returns the parent span in a `traceparent` header, if there is a valid one. */
function parseParent(traceparent: string | readonly string[] | undefined): Traceparent | undefined {
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

/** Returns the context of a new span: its parent, or the root if there is none. */
function contextOf(parent: Traceparent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { isSampled, ...ids } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags, isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
