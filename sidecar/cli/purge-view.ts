import { isRefusedStatus } from '../client/errors.js';
import type { Schemas } from '../client/operations.js';
import { valuesIn } from './query-text.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { type CliContext, commandText } from './context.js';
import { requireMembers } from './gateway-responses.js';
import { formatCount, formatDuration, formatItems, formatRate, printable } from './format.js';

type Purge = Schemas['Purge'];

const COUNTS = ['matched', 'deleted', 'alreadyGone', 'failed', 'unknown', 'requests'] as const;

/** What is shown of a purge: its record on a gateway, or the same members for a purge in this process. */
export type PurgeView = Partial<Omit<Purge, 'errors'>> & { readonly errors?: readonly object[] } & Pick<
    Purge,
    'state' | 'target' | 'query' | 'dryRun' | (typeof COUNTS)[number]
  >;

/** Checks and returns a record sent by a gateway. @throws CliError if it is not the record of a purge */
export function readPurge(value: Purge): Purge {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 'number' as const]));
  return requireMembers(value, 'the record of a purge', {
    id: 'string',
    state: 'string',
    query: 'string',
    ...counts,
  });
}

/** The members that show whether a purge was refused. */
type Ended = Pick<PurgeView, 'state' | 'problem' | 'deleted' | 'restored' | 'unknown'>;

/**
 * Whether the purge or restore was refused, and nothing was deleted or created. A gateway's records say `refused` only for some
 * statuses; for example, a tenant that the broker does not know ends as `failed` with 404.
 */
function isRefused({ state, problem, deleted, restored = 0, unknown }: Ended): boolean {
  if (state !== 'failed') return state === 'refused';
  return deleted + restored + unknown === 0 && isRefusedStatus(Number(problem?.['status'] ?? 0));
}

/** Returns the exit code of a command that waited for a purge to end. @param wasInterrupted by the user of the command */
export function exitCodeOf(view: Ended, wasInterrupted = false): ExitCode {
  if (isRefused(view)) return EXIT.refused;
  switch (view.state) {
    case 'succeeded':
      return EXIT.done;
    case 'partial':
      return EXIT.partial;
    case 'cancelled':
      return wasInterrupted ? EXIT.interrupted : EXIT.failed;
    default:
      return EXIT.failed;
  }
}

/** Returns the unit of a purge's counts. If the view has none, the query implies it. */
export function unitOf({ unit, target, query }: Pick<PurgeView, 'unit' | 'target' | 'query'>): string {
  if (unit !== undefined) return unit;
  const has = (...names: readonly string[]) => names.some((name) => valuesIn(query, name).length > 0);
  if (target === 'entities') return has('drop', 'keep') ? 'attributes' : 'entities';
  if (has('timerel')) return 'instances';
  if (has('datasetId')) return 'datasets';
  return has('attrs') ? 'attributes' : 'entities';
}

/** The number of items that the purge is done with, whatever the outcome. */
export function settledOf({ deleted, alreadyGone, failed, unknown }: PurgeView): number {
  return deleted + alreadyGone + failed + unknown;
}

const ERRORS_SHOWN = 5;

/**
 * Formats the result of a purge for people.
 *
 * @param ms how long the purge took, if known
 * @param context its clock shows whether the archive has expired, so that it cannot be restored
 */
export function summaryOf(
  view: PurgeView,
  ms: number | undefined,
  context: Pick<CliContext, 'clock' | 'gatewayOption'>,
): readonly string[] {
  if (view.target === 'restore') return restoreSummaryOf(view);
  const unit = unitOf(view);
  const rate = ms === undefined || ms < 1000 ? '' : ` (${formatRate((view.deleted * 1000) / ms)})`;
  const took = ms === undefined ? '' : ` in ${formatDuration(ms)}${rate}`;
  const done = formatItems(view.deleted, unit);
  const lines = [headline(view, done, took)];
  if (view.alreadyGone > 0) lines.push(`${formatCount(view.alreadyGone)} were already gone.`);
  if (view.failed > 0) lines.push(`${formatCount(view.failed)} could not be deleted.`);
  if (view.unknown > 0)
    lines.push(
      `${formatCount(view.unknown)} may or may not be gone: the broker did not respond. Purge again to be sure.`,
    );
  if ((view.arrived ?? 0) > 0)
    lines.push(`${formatCount(view.arrived ?? 0)} arrived during the purge and were not deleted.`);
  return [
    ...lines,
    ...undoLines(view, context),
    ...errorLines(view),
    ...(view.warnings ?? []).map((warning) => `Warning: ${printable(warning)}`),
  ];
}

/** Says how to undo a purge that archived what it deleted. */
function undoLines(
  { id, archive, deleted }: PurgeView,
  context: Parameters<typeof summaryOf>[2],
): readonly string[] {
  if (id === undefined || archive === undefined || archive.entities === 0 || deleted === 0) return [];
  if (archive.erasedAt !== undefined || Date.parse(archive.expiresAt) <= context.clock.now()) return [];
  const until = archive.expiresAt.slice(0, 10);
  return [`Archived until ${until}. To undo: ${commandText(`purges restore ${id}`, context)}`];
}

function restoreSummaryOf(view: PurgeView): readonly string[] {
  const { dryRun, restored = 0, alreadyThere = 0, different, failed, unknown, state, problem } = view;
  const items = formatItems(restored, unitOf(view));
  const { detail } = problem ?? {};
  const why = typeof detail === 'string' ? `: ${printable(detail)}` : '.';
  const done = state === 'succeeded' || state === 'partial';
  const lines = [
    done
      ? dryRun
        ? `${items} would be restored. Nothing was created.`
        : `Restored ${items}.`
      : `The restore is ${state}${why} ${items} had been restored.`,
  ];
  if (alreadyThere > 0) {
    const others = different === undefined ? '' : `, ${formatCount(different)} of them different`;
    lines.push(`${formatCount(alreadyThere)} already exist${others}: they were left unchanged.`);
  }
  if (failed > 0) lines.push(`${formatCount(failed)} could not be restored.`);
  if (unknown > 0)
    lines.push(`${formatCount(unknown)} may or may not be restored: the broker did not respond.`);
  return [
    ...lines,
    ...errorLines(view),
    ...(view.warnings ?? []).map((warning) => `Note: ${printable(warning)}`),
  ];
}

function headline(view: PurgeView, done: string, took: string): string {
  const { detail, title } = view.problem ?? {};
  const why = [detail, title].find((text) => typeof text === 'string') ?? '';
  const because = why === '' ? '.' : `: ${printable(why)}`;
  if (isRefused(view)) return `Refused${because}`;
  switch (view.state) {
    case 'succeeded':
    case 'partial':
      if (view.dryRun)
        return `${formatItems(view.matched, unitOf(view))} would be deleted. Nothing was deleted.`;
      return `Deleted ${done}${took}.`;
    case 'cancelled':
      return `Cancelled: ${done} had been deleted${took}.`;
    case 'interrupted':
      return `Interrupted: ${done} had been deleted${took}${because}`;
    default:
      return `Failed${because}${view.deleted > 0 ? ` ${done} had been deleted${took}.` : ''}`;
  }
}

function errorLines({ errors = [] }: PurgeView): readonly string[] {
  const more = errors.length - ERRORS_SHOWN;
  return [
    ...errors.slice(0, ERRORS_SHOWN).map((error) => `  ${printable(errorLine(error))}`),
    ...(more > 0 ? [`  … ${formatCount(more)} more`] : []),
  ];
}

function errorLine(error: unknown): string {
  const { entityId, error: problem, ...rest } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const { detail, title } = (problem ?? rest) as Readonly<Record<string, unknown>>;
  const why = [detail, title].find((text) => typeof text === 'string') ?? JSON.stringify(error);
  return typeof entityId === 'string' ? `${entityId}: ${why}` : why;
}
