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

/** Turns what this gateway does into spans. None of it throws, and no span has a query, a header or a body in it. */
export interface Tracing {
  /**
   * A request has arrived. Where its span is recorded, the span becomes the `traceparent` of what this gateway does for the
   * request; what is passed through keeps its own.
   */
  request(req: IncomingMessage, res: ServerResponse): void;
  brokerAnswered(end: BrokerRequestEnd): void;
  /** A job begins to work in this process, does something, and is over here. */
  readonly jobs: {
    started(record: JobRecord): void;
    event(record: JobRecord, event: PurgeEvent): void;
    ended(record: JobRecord): void;
  };
  /** Ends what is open, and sends what has not been sent; at most two seconds. */
  close(): Promise<void>;
}

/** One job at work: its span, and that of its current phase. */
interface TracedJob {
  readonly span: Span;
  phase: { readonly name: string; readonly span: Span } | undefined;
}

/** What a job begins to do with an event of its engine. */
const PHASES: Readonly<Partial<Record<PurgeEvent['type'], string>>> = {
  counted: 'delete',
  progress: 'delete',
  drained: 'check',
};

/**
 * @param tracer records every span that it is asked for
 * @param share of the requests and jobs that come without a trace, 0 to 1, that are traced
 * @param flush sends the spans that have ended
 */
export function createTracing(tracer: Tracer, share: number, flush: () => Promise<void>): Tracing {
  const jobs = new Map<string, TracedJob>();

  /** Decided before a span is made: of most requests none is, and each would cost as much as a tenth of the request. */
  function isTraced(parent: Traceparent | undefined): boolean {
    return parent?.isSampled ?? Math.random() < share;
  }

  function begin(job: TracedJob, name: string): void {
    if (job.phase?.name === name) return;
    const startTime = Date.now();
    job.phase?.span.end(startTime);
    job.phase = { name, span: tracer.startSpan(name, { startTime }, trace.setSpan(ROOT_CONTEXT, job.span)) };
  }

  function end({ span, phase }: TracedJob): void {
    const endedMs = Date.now();
    phase?.span.end(endedMs);
    span.end(endedMs);
  }

  return {
    request(req, res) {
      const { method = '', headers } = req;
      const parent = parentIn(headers['traceparent']);
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
    brokerAnswered({ method, path, traceparent, status, noAnswer, ms }) {
      const parent = parentIn(traceparent);
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
    jobs: {
      started(record) {
        const { id, target, requestId, traceparent, createdAt } = record;
        const parent = parentIn(traceparent);
        // Whether a request is traced is decided with the request; a scheduled run has none.
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
        begin(job, 'list');
        jobs.set(id, job);
      },
      event({ id }, { type }) {
        const job = jobs.get(id);
        if (job === undefined) return;
        const phase = PHASES[type];
        // Second tries of the last phase make progress as well.
        if (phase !== undefined && job.phase?.name !== 'check') begin(job, phase);
        if (type === 'broker-away' || type === 'broker-back') job.span.addEvent(type);
      },
      ended(record) {
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
        end(job);
      },
    },
    async close() {
      for (const job of jobs.values()) end(job);
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

/** The routes that spans name. Any other path is that of a client, which may put anything into it. */
const ROUTE = new RegExp(
  '^(?:/ngsi-ld/v1/(?:temporal/)?(?:entities|entityOperations|entityMaps|attributes|csourceRegistrations|' +
    'csourceSubscriptions|info|jsonldContexts|snapshots|subscriptions|types)' +
    '|/api/v2/(?:contexts|domains|export|import|me|models|openapi.json|purges|references|retention-policies|' +
    'scans|status|validate|workbench|write-checks|write-policies)' +
    '|/(?:api|console|health|metrics|ngsi-ld))(?=[/?]|$)',
);

/** What kind of request a path is of; never an identifier. */
function routeOf(target: string): string {
  return ROUTE.exec(target)?.[0] ?? '/';
}

/** The span that a header names; none where it names none. */
function parentIn(traceparent: string | readonly string[] | undefined): Traceparent | undefined {
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

/** What the next span is a child of; the root where there is no parent. */
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
