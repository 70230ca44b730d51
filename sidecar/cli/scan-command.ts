import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { isFinal, linkHeader } from '../client/purges.js';
import { defined } from '../shared/defined.js';
import type { JsonValue } from '../shared/json/json.js';
import { writeLines, writeJsonLine, type CliContext } from './context.js';
import { EXIT, type ExitCode, failure, usage } from './exit-codes.js';
import { formatCount, formatTable, printable } from './format.js';
import { followJob } from './gateway-events.js';
import { readJson } from './json-file.js';
import { modelNamed } from './model-name.js';
import { rateOf } from './program-options.js';
import { createProgress } from './progress.js';
import { abortOnInterrupt } from './purge-command.js';
import { exitCodeOf } from './purge-view.js';
import { encodeQuery } from './query-text.js';

export interface ScanOptions {
  readonly tenant?: string;
  readonly link?: string;
  readonly domain?: string;
  /** `D/M` or `D/M@3`. */
  readonly model?: string;
  /** A file with a JSON Schema. */
  readonly schema?: string;
  readonly sample?: number;
  readonly rate?: number;
  readonly maxInvalid?: number;
  readonly json?: boolean;
}

type Scan = Schemas['Scan'];

/** A scan to run on a gateway, or in this process against a broker. */
export interface ScanRequest extends Omit<Schemas['NewScan'], 'schema'> {
  readonly schema?: JsonValue;
}

/** Runs a scan: yields its record on each change, the final one last. The signal cancels it. */
export type ScanBackend = (request: ScanRequest, signal: AbortSignal) => AsyncIterable<Scan>;

/** Maximum number of findings in a table. */
const MAX_SHOWN = 50;

/** Creates a backend that runs scans on a gateway. */
export function createGatewayScanBackend(gateway: ApiClient, context: CliContext): ScanBackend {
  return async function* scan(request, signal) {
    const started = await gateway.json('post', '/scans', { body: request });
    yield started;
    const path = { scan: started.id };
    const cancel = () => void gateway.json('post', '/scans/{scan}/cancel', { path }).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    yield* followJob(
      {
        // Without the last event's id, the stream begins with the current record, even if it no longer changes.
        ask: () =>
          gateway.request('get', '/scans/{scan}/events', { path, headers: { accept: 'text/event-stream' } }),
        read: (document) => document as Scan,
      },
      context.clock,
      `The scan ${started.id} continues there: GET /api/v2/scans/${started.id}`,
    );
  };
}

/**
 * Judges the entities that a query matches, and shows what is wrong.
 *
 * @returns `partial` if more entities are invalid than allowed, the scan is incomplete, or no entity that was found was judged
 */
export async function scanCommand(
  words: readonly string[],
  options: ScanOptions,
  backend: ScanBackend,
  context: CliContext,
): Promise<ExitCode> {
  const { tenant, link, domain, model, sample, rate, schema: file } = options;
  const query = encodeQuery(words);
  if (query === '') throw usage('The query is empty: use one such as type=Vehicle.');
  if (model !== undefined) modelNamed(model, '--model', true);
  const schema = file === undefined ? undefined : ((await readJson(file, context)) as JsonValue);
  const request: ScanRequest = {
    query,
    ...defined({ tenant, link: link && linkHeader(link), domain, model, sample, schema }),
    ...rateOf(rate),
  };
  const isJson = options.json === true;
  const ended = await followScan(
    request,
    backend,
    context,
    isJson ? (record) => writeJsonLine(context, record) : undefined,
  );
  const last = ended.record;
  if (!isJson) writeLines(context.stdout, ...tableOf(last));
  if (last.state === 'succeeded' && judgedNothing(last))
    writeLines(
      context.stderr,
      'No entity was judged. Name the model with --model, or the @context with --link; if there is no model yet, import one.',
    );
  return scanExitCode(ended, options.maxInvalid ?? 0);
}

/** A scan that has ended. */
export interface EndedScan {
  readonly record: Scan;
  /** Whether the user of the command has cancelled it. */
  readonly wasInterrupted: boolean;
}

/**
 * Runs a scan to its end; Ctrl+C cancels it.
 *
 * @param show receives each record; without it, a progress bar is shown
 */
export async function followScan(
  request: ScanRequest,
  backend: ScanBackend,
  context: CliContext,
  show?: (record: Scan) => void,
): Promise<EndedScan> {
  const { signal, release } = abortOnInterrupt(context);
  const bar = createProgress(context);
  let last: Scan | undefined;
  try {
    for await (const record of backend(request, signal)) {
      last = record;
      if (show !== undefined) show(record);
      else if (!isFinal(record)) bar.show(progressViewOf(record));
    }
  } finally {
    bar.stop();
    release();
  }
  if (last === undefined) throw failure('The scan ended without a record.');
  return { record: last, wasInterrupted: signal.aborted };
}

/** Returns the exit code of a command after a scan. @param most maximum number of invalid entities that are accepted */
export function scanExitCode({ record, wasInterrupted }: EndedScan, most: number): ExitCode {
  const code = exitCodeOf({ ...record, deleted: 0, unknown: 0 }, wasInterrupted);
  return code === EXIT.done && (record.invalid > most || judgedNothing(record)) ? EXIT.partial : code;
}

/** Whether a scan found entities, but judged none: there is no model for them, or they are not named as in the model. */
function judgedNothing({ checked, notJudged }: Scan): boolean {
  return checked === 0 && notJudged > 0;
}

/** Converts the record for the progress bar of purges. */
function progressViewOf({ state, query, matched, expected, checked, notJudged, sample = Infinity }: Scan) {
  const total = Math.min(sample, Math.max(matched, expected ?? 0));
  const counts = { deleted: checked + notJudged, alreadyGone: 0, failed: 0, unknown: 0, requests: 0 };
  return { state, target: 'entities' as const, query, dryRun: true, matched: total, ...counts };
}

function tableOf(record: Scan): readonly string[] {
  const { state, checked, valid, invalid, notJudged, findings, unmodelled, warnings, problem } = record;
  const counts = `${formatCount(checked)} checked, ${formatCount(valid)} valid, ${formatCount(invalid)} invalid`;
  const others = notJudged > 0 ? `, ${formatCount(notJudged)} not judged` : '';
  const detail = (problem as { readonly detail?: string } | undefined)?.detail;
  return [
    `${state}: ${counts}${others}`,
    ...(detail === undefined ? [] : [printable(detail)]),
    ...findingsTable(findings),
    ...unmodelled
      .slice(0, MAX_SHOWN)
      .map(
        ({ type, entities }) =>
          `${formatCount(entities)} of type ${printable(type || '(none)')} have no model`,
      ),
    ...warnings.map((warning) => `Warning: ${printable(warning)}`),
  ];
}

/** Formats the findings of a scan as a table; empty if there are none. */
export function findingsTable(findings: Scan['findings']): readonly string[] {
  if (findings.length === 0) return [];
  const shown = findings.slice(0, MAX_SHOWN);
  // Details come last, because one with a long enumeration would make the column hundreds of characters wide.
  const rows = shown.map((finding) => [
    formatCount(finding.entities),
    ...[
      finding.domain === '' ? finding.model : `${finding.domain}/${finding.model}`,
      finding.pointer || '(entity)',
      finding.keyword,
      finding.sample[0] ?? '',
      finding.detail,
    ].map(printable),
  ]);
  return [
    ...formatTable([['ENTITIES', 'MODEL', 'PLACE', 'KEYWORD', 'FOR EXAMPLE', 'DETAIL'], ...rows]),
    ...(findings.length > shown.length
      ? [`${formatCount(findings.length - shown.length)} more findings: --json`]
      : []),
  ];
}
