import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { createTracing, type Tracing } from './tracing.js';

export interface TracingOptions {
  /** Of the collector; undefined where nothing is to be traced. */
  readonly endpoint: URL | undefined;
  readonly serviceName: string;
  readonly instanceName: string | undefined;
  /** Share of requests that are traced, 0 to 1. */
  readonly share: number;
  /** Called when the collector takes no spans any more, and when it does again. Must not throw. */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

/** Longest wait for the collector: one export, and the last one when the gateway closes, in milliseconds. */
const EXPORT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Sends spans to a collector, by OTLP over HTTP with JSON. Loads OpenTelemetry's SDK only where there is one; the
 * SDK itself reads further variables of the environment, such as OTEL_EXPORTER_OTLP_HEADERS.
 *
 * @returns undefined where there is none
 */
export async function openTracing({
  endpoint,
  serviceName,
  instanceName,
  share,
  ...told
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
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: watched(exporter, told) })],
  });
  return createTracing(provider.getTracer('ngsi-ld-gateway'), share, async () => {
    const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    await Promise.race([provider.shutdown(), late]).catch(() => {});
  });
}

/** Tells when an exporter begins to fail, and when it works again: the SDK tells nobody. */
function watched(
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

/** Without the answer of the collector, which the error has as well. */
function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const { code = '', message = '' } = error ?? {};
  return `${String(code)} ${message}`.trim();
}
