import { isFinal } from '../client/purges.js';
import { Option } from 'commander';
import {
  cutoffOf,
  olderThan,
  parseEntityPurgeQuery,
  QueryRefusedError,
  parseTemporalPurgeQuery,
  queryText,
} from '../purge/index.js';
import { shortDuration } from '../shared/duration.js';
import { flagOf, optionsIn, optionsOf, type OptionValues } from '../shared/purge-options.js';
import {
  askYesNo,
  commandText,
  isInteractive,
  writeLines,
  writeJsonLine,
  type CliContext,
} from './context.js';
import { EXIT, type ExitCode, usage, failure } from './exit-codes.js';
import { formatCount, formatItems, printable } from './format.js';
import { writeDocument } from './output.js';
import type { OutputOptions } from './program-options.js';
import { createProgress } from './progress.js';
import type { PurgeBackend, PurgePreview, PurgeRequest } from './purge-backend.js';
import { exitCodeOf, summaryOf, unitOf, type PurgeView } from './purge-view.js';
import { encodeQuery } from './query-text.js';

/** The options given on the command line. Those of the purge table have the names of their flags. */
export interface PurgeOptions extends Readonly<Record<string, unknown>> {
  readonly temporal?: boolean;
  readonly tenant?: string;
  readonly link?: string;
  readonly olderThan?: string;
  readonly by?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly detach?: boolean;
}

/** Minimum time between two updates for programs, in milliseconds. */
const UPDATE_MS = 250;

const SAMPLE_SHOWN = 5;

const COUNTING_SHOWN_AFTER_MS = 1000;

const STOPPING =
  'Stopping: no new deletes; waiting for those in progress. Press Ctrl+C again to exit immediately.';

/**
 * The command `purge`: shows what would be deleted, asks for confirmation, and follows the purge to its end.
 *
 * @param words the query, as typed by the user
 */
export async function purgeCommand(
  words: readonly string[],
  options: PurgeOptions,
  backend: PurgeBackend,
  context: CliContext,
): Promise<ExitCode> {
  const counted = requestOf(words, options, context.clock.now());
  let request = counted;
  const isAsked = options.yes !== true && options.dryRun !== true;
  if (isAsked && !isInteractive(context)) {
    throw usage(
      'There is no terminal to ask for confirmation: add --yes to delete without asking, or --dry-run to only count.',
    );
  }
  const { signal, release } = abortOnInterrupt(context);
  // Once this is true, an error may come from a purge that has deleted something.
  let isSent = false;
  try {
    if (options.yes !== true || options.dryRun === true) {
      const preview = await showCounting(context, async () => {
        const planned = options.dryRun === true ? undefined : await backend.plan?.(counted, signal);
        return planned ?? backend.preview(counted, signal);
      });
      if (options.dryRun === true) return showDryRun(request, preview, options, context);
      const answer = await confirm(request, preview, context, signal);
      if (answer !== 'yes') return answer;
      request = atMostShown(request, preview);
    }
    isSent = true;
    if (options.detach === true) return showDetached(await backend.detach(request), options, context);
    const views = backend.run(request, signal);
    const code = await showProgress(views, options, context, { signal, onStop: STOPPING });
    if (code === EXIT.refused && request.options.maxAffected !== counted.options.maxAffected)
      writeLines(
        context.stderr,
        'No more than was shown is deleted. Run the command again to see what matches now.',
      );
    return code;
  } catch (error) {
    if (!signal.aborted || isSent) throw error;
    writeLines(context.stderr, 'Nothing was deleted.');
    return EXIT.interrupted;
  } finally {
    release();
  }
}

/**
 * Limits a purge to what was shown: by the plan, with which what arrives later stays; without one by the count, so that the
 * purge is refused if more match by then. A purge that needs `--max-affected` from the user because it may reach a whole tenant
 * does not get it from here.
 */
function atMostShown(request: PurgeRequest, { plan, matched, atLeast }: PurgePreview): PurgeRequest {
  if (plan !== undefined) return { ...request, plan };
  const { target, query, options } = request;
  if (atLeast === true || (options.maxAffected === undefined && mayReachTenant(target, query)))
    return request;
  return { ...request, options: { ...options, maxAffected: matched } };
}

function mayReachTenant(target: PurgeRequest['target'], query: string): boolean {
  try {
    parsed(target, query, 'bounded');
    return false;
  } catch (error) {
    if (error instanceof QueryRefusedError) return true;
    throw error;
  }
}

/** Shows on a terminal that a count takes a while, such as one that waits for a broker, until it is there. */
async function showCounting<Value>(
  { stderr, clock }: CliContext,
  count: () => Promise<Value>,
): Promise<Value> {
  if (stderr.isTTY !== true) return count();
  const done = new AbortController();
  const isShown = clock.sleep(COUNTING_SHOWN_AFTER_MS, done.signal).then(
    () => stderr.write('Counting …') || true,
    () => false,
  );
  try {
    return await count();
  } finally {
    done.abort();
    if (await isShown) stderr.write('\r\u001b[K');
  }
}

/** The first Ctrl+C aborts the signal; the second one exits at once. */
export function abortOnInterrupt(context: CliContext) {
  const controller = new AbortController();
  const release = context.onInterrupt(() => {
    if (controller.signal.aborted) context.exit(EXIT.interrupted);
    controller.abort();
  });
  return { signal: controller.signal, release };
}

/** Builds the request for a purge; sends nothing. @throws CliError for wrong options or a wrong query */
export function requestOf(words: readonly string[], options: PurgeOptions, nowMs: number): PurgeRequest {
  const isTemporal = options.temporal === true;
  const target = isTemporal ? 'temporal' : 'entities';
  let query = encodeQuery(words);
  if (options.by !== undefined && options.olderThan === undefined) throw usage('--by needs --older-than.');
  try {
    if (options.olderThan !== undefined) {
      const by = options.by ?? (isTemporal ? 'observedAt' : 'modifiedAt');
      query = queryText(olderThan(query, { target, by }, cutoffOf(nowMs, isoDuration(options.olderThan))));
    }
    // The backend decides whether it may empty a whole tenant.
    parsed(target, query, 'allow');
  } catch (error) {
    if (!(error instanceof QueryRefusedError)) throw error;
    throw usage(error.message, { cause: error });
  }
  const { tenant, link } = options;
  // An empty name, perhaps from a shell variable that is not set, may be a different tenant to the broker.
  if (tenant !== undefined && !/^[\x21-\x7e]+$/.test(tenant))
    throw usage('--tenant must consist of visible ASCII characters without spaces.');
  if (link !== undefined && !(/^https?:\/\/[^\s<>"]+$/i.test(link) && URL.parse(link) !== null))
    throw usage('--link must be the http or https URL of an @context.');
  return { target, query, tenant, link, options: optionsGiven(options) };
}

/** @throws QueryRefusedError */
function parsed(target: PurgeRequest['target'], query: string, wholeTenant: 'allow' | 'bounded') {
  return target === 'temporal'
    ? parseTemporalPurgeQuery(query, wholeTenant)
    : parseEntityPurgeQuery(query, wholeTenant);
}

/** The options of the purge table that were given, except dryRun. */
function optionsGiven(given: PurgeOptions): OptionValues<'body'> {
  const values = optionsIn('body').flatMap((name) => {
    const flag = name === 'dryRun' ? undefined : flagOf(name);
    return flag === undefined ? [] : [[name, given[new Option(flag).attributeName()]]];
  });
  return optionsOf('body', Object.fromEntries(values) as OptionValues<'body'>);
}

function showDryRun(
  request: PurgeRequest,
  preview: PurgePreview,
  { json }: PurgeOptions,
  context: CliContext,
): ExitCode {
  const document = { dryRun: true, query: request.query, ...preview };
  writeDocument(document, { json }, () => previewLines(request, preview), context);
  const { maxAffected } = request.options;
  const isTooMany = isAbove(maxAffected, preview);
  if (isTooMany) writeLines(context.stderr, tooMany(maxAffected));
  return isTooMany ? EXIT.refused : EXIT.done;
}

function isAbove(maxAffected: number | undefined, { matched }: PurgePreview): boolean {
  return maxAffected !== undefined && matched > maxAffected;
}

function tooMany(maxAffected = 0): string {
  return `That is more than the ${formatCount(maxAffected)} that --max-affected allows, so the purge is refused.`;
}

async function confirm(
  request: PurgeRequest,
  preview: PurgePreview,
  context: CliContext,
  signal: AbortSignal,
): Promise<'yes' | ExitCode> {
  writeLines(context.stderr, ...previewLines(request, preview));
  if (isCertainlyEmpty(preview)) return EXIT.done;
  const { maxAffected } = request.options;
  if (isAbove(maxAffected, preview)) {
    writeLines(context.stderr, tooMany(maxAffected));
    return EXIT.refused;
  }
  const what = `${preview.atLeast === true ? 'at least ' : ''}${formatItems(preview.matched, unitOfPreview(request, preview))}`;
  const from = request.tenant === undefined ? '' : ` of tenant ${printable(request.tenant)}`;
  if (await askYesNo(context, `Delete ${what}${from}? [y/N] `, signal)) return 'yes';
  writeLines(context.stderr, 'Nothing was deleted.');
  return EXIT.interrupted;
}

/** Whether it is certain that nothing matches. It is not if 0 is a lower bound: a broker may count what it does not list. */
function isCertainlyEmpty({ matched, atLeast }: PurgePreview): boolean {
  return matched === 0 && atLeast !== true;
}

function previewLines(request: PurgeRequest, preview: PurgePreview): readonly string[] {
  const { matched, sample, atLeast, hints = [] } = preview;
  if (isCertainlyEmpty(preview)) return ['Nothing matches.', ...hints.map((hint) => `  ${printable(hint)}`)];
  const count = `${atLeast === true ? 'at least ' : ''}${formatItems(matched, unitOfPreview(request, preview))}`;
  const shown = sample.slice(0, SAMPLE_SHOWN).map((id) => `  ${printable(id)}`);
  const isEntities = unitOfPreview(request, preview) === 'entities';
  const more = isEntities ? matched - shown.length : sample.length - shown.length;
  return [
    `The query matches ${count}${isEntities ? ':' : ', of:'}`,
    ...shown,
    ...(more > 0 ? [`  … ${formatCount(more)} more`] : []),
  ];
}

function unitOfPreview({ target, query }: PurgeRequest, { unit }: PurgePreview): string {
  return unitOf({ target, query, ...(unit === undefined ? {} : { unit }) });
}

/** Shows a purge or restore that is not waited for. */
export function showDetached(view: PurgeView, { json }: OutputOptions, context: CliContext): ExitCode {
  const { id = '', state, target } = view;
  const what = target === 'restore' ? 'Restore' : 'Purge';
  const follow = commandText(`purges follow ${id}`, context);
  writeDocument(view, { json }, () => [`${what} ${id} is ${state}. Follow it: ${follow}`], context);
  return EXIT.done;
}

/**
 * Shows a purge until it ends: as a progress bar for people, or as one JSON document per line, the final record last.
 *
 * @param interrupted its signal aborts on Ctrl+C; the bar is then removed, to make room for messages and the shell prompt
 * @throws CliError if it ends without a final state
 */
export async function showProgress(
  views: AsyncIterable<PurgeView>,
  { json }: OutputOptions,
  context: CliContext,
  { signal, onStop }: { readonly signal: AbortSignal; readonly onStop?: string },
): Promise<ExitCode> {
  const progress = json === true ? undefined : createProgress(context);
  const stop = () => {
    progress?.stop();
    if (onStop !== undefined) writeLines(context.stderr, onStop);
  };
  signal.addEventListener('abort', stop, { once: true });
  const startedMs = context.clock.now();
  let saidMs = -Infinity;
  let last: PurgeView | undefined;
  try {
    for await (const view of views) {
      last = view;
      if (!signal.aborted) progress?.show(view);
      const nowMs = context.clock.now();
      if (json === true && !isFinal(view) && nowMs - saidMs >= UPDATE_MS) {
        saidMs = nowMs;
        writeJsonLine(context, view);
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    progress?.stop();
  }
  if (last === undefined || !isFinal(last)) {
    if (signal.aborted) return EXIT.interrupted;
    throw failure('The end of the purge was not reported.');
  }
  const tookMs = durationOf(last) ?? context.clock.now() - startedMs;
  const end = last;
  writeDocument(end, { json }, () => summaryOf(end, tookMs, context), context);
  return exitCodeOf(last, signal.aborted);
}

function durationOf({ startedAt, endedAt }: PurgeView): number | undefined {
  const ms = Date.parse(endedAt ?? '') - Date.parse(startedAt ?? '');
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/**
 * Parses `90d`, `12h`, `30min`, `2w`, `6mo` and `1y`, and returns ISO 8601 durations unchanged.
 *
 * @returns an ISO 8601 duration, such as P90D
 * @throws CliError for anything else
 */
export function isoDuration(text: string): string {
  const short = shortDuration(text);
  if (short !== undefined) return short;
  if (text.startsWith('P')) return text;
  throw usage(
    `--older-than must be a time such as 90d, 12h, 30min, 2w, 6mo, 1y or P90D, not ${JSON.stringify(text)}.`,
  );
}
