import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { isDoneWithin, systemClock } from '../shared/clock.js';
import { createTracing, type Tracing } from './tracing.js';

export interface TracingOptions {
  /** URL of the collector; undefined if tracing is off. */
  readonly endpoint: URL | undefined;
  readonly serviceName: string;
  readonly instanceName: string | undefined;
  /** Fraction of requests to trace, 0 to 1. */
  readonly samplingRatio: number;
  /** Called when the collector stops accepting spans, and when it accepts them again. Must not throw. */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

/** Time limits for the collector in milliseconds: for one export, and for the last one when the gateway closes. */
const EXPORT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Sends spans to a collector, as OTLP over HTTP with JSON. Loads the OpenTelemetry SDK only if there is a collector.
 * The SDK itself reads further environment variables, such as OTEL_EXPORTER_OTLP_HEADERS.
 *
 * @returns undefined if there is no collector
 */
export async function openTracing({
  endpoint,
  serviceName,
  instanceName,
  samplingRatio: share,
  ...handlers
}: TracingOptions): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.href.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      ...(instanceName === undefined ? {} : { 'service.instance.id': instanceName }),
    }),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: withFailureReports(exporter, handlers) })],
  });
  return createTracing(provider.getTracer('ngsi-ld-gateway'), share, async () => {
    await isDoneWithin(systemClock, CLOSE_TIMEOUT_MS, provider.shutdown()).catch(() => {});
  });
}

/** Wraps an exporter to report when it starts to fail and when it works again, which the SDK does not report. */
function withFailureReports(
  exporter: SpanExporter,
  { onAway, onBack }: Pick<TracingOptions, 'onAway' | 'onBack'>,
): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { code, error } = result;
        const wasAway = isAway;
        // The code of a success is 0.
        isAway = Boolean(code);
        if (isAway && !wasAway) onAway(reasonOf(error));
        if (wasAway && !isAway) onBack();
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Returns the reason without the answer of the collector, which the error also contains. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const { code = '', message = '' } = error ?? {};
  return `${String(code)} ${message}`.trim();
}
