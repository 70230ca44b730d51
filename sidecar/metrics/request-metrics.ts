import { Counter, Histogram, type Registry } from '@prometheus-io/client';

/** How one request to the broker ended. */
export interface BrokerRequestEnd {
  readonly method: string;
  /** Of its answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Why there was none, in one of a few words. */
  readonly noAnswer?: string | undefined;
  readonly ms: number;
}

/** How one request that was passed through ended. */
export interface PassThroughEnd {
  readonly method: string;
  /** The one sent to the client; undefined when the exchange broke off. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** Records every request that is sent to the broker, passed through or refused. Never throws. */
export interface RequestMetrics {
  brokerAnswered(end: BrokerRequestEnd): void;
  passedThrough(end: PassThroughEnd): void;
  /** @param reason one of a few words, known beforehand */
  refused(reason: string): void;
}

/** Seconds: from a broker in the same rack to one that takes until the time-out. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Methods that have a label of their own: a client may send any word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

export function createRequestMetrics(registry: Registry, prefix: string): RequestMetrics {
  const registers = [registry];
  const broker = new Histogram({
    name: `${prefix}broker_request_duration_seconds`,
    help: 'Requests of the gateway to the broker (purges, health), each try: from sending to the last byte of the answer.',
    labelNames: ['method', 'status_class'],
    buckets: BUCKETS,
    registers,
  });
  const passThrough = new Histogram({
    name: `${prefix}pass_through_duration_seconds`,
    help: 'Requests passed through to the broker, from their head to the end of the answer, at the pace of the client.',
    labelNames: ['method', 'status_class'],
    buckets: BUCKETS,
    registers,
  });
  const refused = new Counter({
    name: `${prefix}requests_refused_total`,
    help: 'Requests refused before anything looked at what they ask for, by reason.',
    labelNames: ['reason'],
    registers,
  });
  return {
    brokerAnswered: ({ method, status, noAnswer, ms }) =>
      broker.observe({ method, status_class: classOf(status) ?? noAnswer ?? 'other' }, ms / 1000),
    passedThrough: ({ method, status, ms }) =>
      passThrough.observe(
        {
          method: METHODS.has(method) ? method : 'other',
          status_class: status === undefined ? 'broken_off' : (classOf(status) ?? 'other'),
        },
        ms / 1000,
      ),
    refused: (reason) => refused.inc({ reason }),
  };
}

function classOf(status: number | undefined): string | undefined {
  return status === undefined ? undefined : CLASSES[Math.floor(status / 100) - 1];
}
