import { cutoffOf, olderThan } from '../purge/query/older-than.js';
import { queryText } from '../purge/query/parameters.js';
import { parseEntityPurgeQuery } from '../purge/query/query.js';
import { QueryRefusedError } from '../purge/errors.js';
import { parseTemporalPurgeQuery } from '../purge/temporal/query.js';
import { ask } from './ask.js';
import { canAsk, say, sayJson, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import { formatCount, formatItems, printable } from './format.js';
import { isoDuration } from './older-than.js';
import { createProgress } from './progress.js';
import type { PurgePlace, PurgePreview, PurgeWish } from './purge-place.js';
import { exitCodeOf, isOver, summaryOf, unitOf, type PurgeView } from './purge-view.js';
import { encodeQuery } from './query-text.js';

export interface PurgeOptions {
  readonly temporal?: boolean;
  readonly tenant?: string;
  readonly link?: string;
  readonly olderThan?: string;
  readonly by?: string;
  readonly maxAffected?: number;
  readonly rate?: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly detach?: boolean;
}

/** Updates that programs get in a second, at most. */
const UPDATE_MS = 250;

const SAMPLE_SHOWN = 5;

/**
 * Purges: shows what would go, asks, and follows the purge to its end.
 *
 * @param words the query, as people write it
 * @throws CliError
 */
export async function purgeCommand(
  words: readonly string[],
  options: PurgeOptions,
  place: PurgePlace,
  context: CliContext,
): Promise<ExitCode> {
  const wish = wishOf(words, options, context.clock.now());
  const isAsked = options.yes !== true && options.dryRun !== true;
  if (isAsked && !canAsk(context)) {
    throw new CliError(
      EXIT.usage,
      'There is no terminal to ask on: add --yes to delete without being asked, or --dry-run to look.',
    );
  }
  const interrupt = listenForInterrupts(context);
  const { signal } = interrupt;
  let isHandedOver = false;
  try {
    if (options.yes !== true || options.dryRun === true) {
      const preview = await place.preview(wish, signal);
      if (options.dryRun === true) return showDryRun(wish, preview, options, context);
      const answer = await confirm(wish, preview, context, signal);
      if (answer !== 'yes') return answer;
    }
    if (options.detach === true) {
      isHandedOver = true;
      return showDetached(await place.detach(wish), options, context);
    }
    interrupt.deletesNow();
    return await follow(place.run(wish, signal), options, context, () => signal.aborted);
  } catch (error) {
    if (!signal.aborted || interrupt.mayHaveDeleted || isHandedOver) throw error;
    say(context.stderr, 'Nothing was deleted.');
    return EXIT.interrupted;
  } finally {
    interrupt.release();
  }
}

/** The first Ctrl+C stops cleanly, the second one leaves at once. */
function listenForInterrupts(context: CliContext) {
  const controller = new AbortController();
  let mayHaveDeleted = false;
  const release = context.onInterrupt(() => {
    if (controller.signal.aborted) context.leave(EXIT.interrupted);
    controller.abort();
    if (mayHaveDeleted)
      say(
        context.stderr,
        '\nStopping: no new deletes; those under way are waited for. Ctrl+C again to leave at once.',
      );
  });
  return {
    signal: controller.signal,
    release,
    deletesNow: () => void (mayHaveDeleted = true),
    get mayHaveDeleted() {
      return mayHaveDeleted;
    },
  };
}

/** @throws CliError for wrong options or a wrong query; nothing was sent then */
export function wishOf(words: readonly string[], options: PurgeOptions, nowMs: number): PurgeWish {
  const isTemporal = options.temporal === true;
  const target = isTemporal ? 'temporal' : 'entities';
  let query = encodeQuery(words);
  if (options.by !== undefined && options.olderThan === undefined)
    throw new CliError(EXIT.usage, '--by needs --older-than.');
  try {
    if (options.olderThan !== undefined) {
      const by = options.by ?? (isTemporal ? 'observedAt' : 'modifiedAt');
      query = queryText(olderThan(query, { target, by }, cutoffOf(nowMs, isoDuration(options.olderThan))));
    }
    // Whether a whole tenant may go is decided where the purge runs.
    if (isTemporal) parseTemporalPurgeQuery(query, 'allow');
    else parseEntityPurgeQuery(query, 'allow');
  } catch (error) {
    if (!(error instanceof QueryRefusedError)) throw error;
    throw new CliError(EXIT.usage, error.message, { cause: error });
  }
  const { tenant, link, maxAffected, rate } = options;
  // An empty tenant, as of a variable that is not set, may be another one to the broker.
  if (tenant !== undefined && !/^[\x21-\x7e]+$/.test(tenant))
    throw new CliError(EXIT.usage, '--tenant must be a name of visible ASCII characters without blanks.');
  if (link !== undefined && !(/^https?:\/\/[^\s<>"]+$/i.test(link) && URL.canParse(link)))
    throw new CliError(EXIT.usage, '--link must be the http or https URL of an @context.');
  return { target, query, tenant, link, maxAffected, maxPerSecond: rate };
}

function showDryRun(
  wish: PurgeWish,
  preview: PurgePreview,
  { json, maxAffected }: PurgeOptions,
  context: CliContext,
): ExitCode {
  if (json === true) sayJson(context, { dryRun: true, query: wish.query, ...preview });
  else say(context.stdout, ...previewLines(wish, preview));
  const isTooMany = isAbove(maxAffected, preview);
  if (isTooMany) say(context.stderr, tooMany(maxAffected));
  return isTooMany ? EXIT.refused : EXIT.done;
}

function isAbove(maxAffected: number | undefined, { matched }: PurgePreview): boolean {
  return maxAffected !== undefined && matched > maxAffected;
}

function tooMany(maxAffected = 0): string {
  return `That is more than the ${formatCount(maxAffected)} of --max-affected: a purge of it is refused.`;
}

async function confirm(
  wish: PurgeWish,
  preview: PurgePreview,
  context: CliContext,
  signal: AbortSignal,
): Promise<'yes' | ExitCode> {
  say(context.stderr, ...previewLines(wish, preview));
  if (isNothing(preview)) return EXIT.done;
  if (isAbove(wish.maxAffected, preview)) {
    say(context.stderr, tooMany(wish.maxAffected));
    return EXIT.refused;
  }
  const what = `${preview.atLeast === true ? 'at least ' : ''}${formatItems(preview.matched, unitOfPreview(wish, preview))}`;
  const from = wish.tenant === undefined ? '' : ` of tenant ${printable(wish.tenant)}`;
  if (await ask(context, `Delete ${what}${from}? [y/N] `, signal)) return 'yes';
  say(context.stderr, 'Nothing was deleted.');
  return EXIT.interrupted;
}

/** Whether nothing matches for sure: a broker may count what it does not list. */
function isNothing({ matched, atLeast }: PurgePreview): boolean {
  return matched === 0 && atLeast !== true;
}

function previewLines(wish: PurgeWish, preview: PurgePreview): readonly string[] {
  const { matched, sample, atLeast, hints = [] } = preview;
  if (isNothing(preview)) return ['Nothing matches.', ...hints.map((hint) => `  ${printable(hint)}`)];
  const count = `${atLeast === true ? 'at least ' : ''}${formatItems(matched, unitOfPreview(wish, preview))}`;
  const shown = sample.slice(0, SAMPLE_SHOWN).map((id) => `  ${printable(id)}`);
  const isEntities = unitOfPreview(wish, preview) === 'entities';
  const more = isEntities ? matched - shown.length : sample.length - shown.length;
  return [
    `The query matches ${count}${isEntities ? ':' : ', of:'}`,
    ...shown,
    ...(more > 0 ? [`  … ${formatCount(more)} more`] : []),
  ];
}

function unitOfPreview({ target, query }: PurgeWish, { unit }: PurgePreview): string {
  return unitOf({ target, query, ...(unit === undefined ? {} : { unit }) });
}

function showDetached(view: PurgeView, { json }: PurgeOptions, context: CliContext): ExitCode {
  if (json === true) sayJson(context, view);
  else
    say(
      context.stdout,
      `Purge ${view.id ?? ''} is ${view.state}. Follow it: ngsi-ld-gateway purges follow ${view.id ?? ''}`,
    );
  return EXIT.done;
}

/**
 * Shows a purge until its end: a bar for people, or one JSON document a line, the final one last.
 *
 * @throws CliError when it ends without a final state
 */
export async function follow(
  views: AsyncIterable<PurgeView>,
  { json }: Pick<PurgeOptions, 'json'>,
  context: CliContext,
  wasInterrupted: () => boolean,
): Promise<ExitCode> {
  const progress = json === true ? undefined : createProgress(context);
  const startedMs = context.clock.now();
  let saidMs = -Infinity;
  let last: PurgeView | undefined;
  try {
    for await (const view of views) {
      last = view;
      progress?.show(view);
      const nowMs = context.clock.now();
      if (json === true && !isOver(view) && nowMs - saidMs >= UPDATE_MS) {
        saidMs = nowMs;
        sayJson(context, view);
      }
    }
  } finally {
    progress?.stop();
  }
  if (last === undefined || !isOver(last)) {
    if (wasInterrupted()) return EXIT.interrupted;
    throw new CliError(EXIT.failed, 'The end of the purge was not reported.');
  }
  if (json === true) sayJson(context, last);
  else say(context.stdout, ...summaryOf(last, durationOf(last) ?? context.clock.now() - startedMs));
  return exitCodeOf(last, wasInterrupted());
}

function durationOf({ startedAt, endedAt }: PurgeView): number | undefined {
  const ms = Date.parse(endedAt ?? '') - Date.parse(startedAt ?? '');
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
