import { isFinal } from '../client/purges.js';
import type { ApiClient } from '../client/client.js';
import { commandText, writeLines, writeJsonLine, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { formatCount, formatTable, printable } from './format.js';
import { cancelPurge, requireId, followPurge } from './gateway-backend.js';
import { colouredState, shownQuery, writeList, writeDocument } from './output.js';
import { rateOf, type OutputOptions } from './program-options.js';
import { showProgress } from './purge-command.js';
import { readPurge, summaryOf, type PurgeView } from './purge-view.js';
import { defined } from '../shared/defined.js';
import { readableQuery } from '../shared/readable-query.js';

export interface ListOptions extends OutputOptions {
  readonly state?: PurgeView['state'];
  readonly tenant?: string;
  readonly caller?: string;
  /** The name of a retention policy. */
  readonly policy?: string;
  readonly since?: string;
  readonly until?: string;
  /** Text that the query contains. */
  readonly query?: string;
  readonly type?: string;
  /** Only dry runs. */
  readonly dryRun?: boolean;
  /** Includes dry runs. */
  readonly all?: boolean;
  readonly limit?: number;
  readonly offset?: number;
}

const QUERY_SHOWN = 80;

/** Maximum number of records that the gateway lists at once. */
const MAX_PAGE = 1000;

/** Lists purges, newest first. Omits dry runs by default, because each preview in the console is one. */
export async function listPurges(
  options: ListOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { all, dryRun = false, state, tenant, caller, policy, limit, offset = 0, ...more } = options;
  const { since, until, query: part, type, ...form } = more;
  const filter = { state, tenant, caller, retentionPolicy: policy, since, until, text: part, type };
  const query = { ...filter, limit, offset, dryRun: all === true ? undefined : dryRun };
  const { items, total } = await gateway.page('/purges', { query });
  const records = items.map(readPurge);
  const others = all === true || dryRun ? '' : ' --all shows dry runs, too.';
  const table = {
    head: ['ID', 'STATE', 'TARGET', 'MATCHED', 'DELETED', 'FAILED', 'CALLER', 'TENANT', 'CREATED', 'QUERY'],
    row: (record: PurgeView) => rowOf(record, context),
    none: `There are no such purges.${others}`,
  };
  if (!writeList(records, form, table, context)) return EXIT.done;
  const shown = offset + records.length;
  if (total > shown) writeLines(context.stderr, `${formatCount(total - shown)} more: --offset ${shown}`);
  return EXIT.done;
}

function rowOf(record: PurgeView, context: CliContext): readonly string[] {
  const { id = '', state, target, matched, deleted, failed, caller = '-', tenant, createdAt, query } = record;
  const counts = [matched, deleted, failed].map((count) => formatCount(count));
  const kind = record.retentionPolicy === undefined ? '' : ', retention';
  const marked = record.dryRun ? `${state} (dry${kind})` : `${state}${kind && ' (retention)'}`;
  return [
    printable(id),
    colouredState(printable(marked), context),
    ...[
      target,
      ...counts,
      caller,
      tenant ?? '-',
      createdAt ?? '-',
      shownQuery(query, QUERY_SHOWN, context),
    ].map(printable),
  ];
}

/** Shows the record of a purge. */
export async function showPurge(
  idOrPrefix: string,
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const purge = await resolvePurgeId(idOrPrefix, gateway);
  const record = readPurge(await gateway.json('get', '/purges/{purge}', { path: { purge } }));
  writeDocument(
    record,
    options,
    () => formatTable(rowsOf({ ...record, query: readableQuery(record.query) })),
    context,
  );
  return EXIT.done;
}

/** The members of a record that have a value, as rows of a table. Each item of a list has a row of its own. */
function rowsOf(record: PurgeView): readonly (readonly string[])[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value];
    return items.map((item, index) => [index === 0 ? name : '', printable(textOf(item))]);
  });
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? formatCount(value) : JSON.stringify(value);
}

/** Returns the full id of a purge, which the user gave in full or by a unique prefix. */
export async function resolvePurgeId(idOrPrefix: string, gateway: ApiClient): Promise<string> {
  const prefix = requireId(idOrPrefix);
  // Ids are UUIDs, so only a possible prefix of a UUID is looked up.
  if (!/^[\da-f-]{1,35}$/.test(prefix)) return prefix;
  const { items, total } = await gateway.page('/purges', { query: { limit: MAX_PAGE } });
  const ids = items.map((record) => readPurge(record).id).filter((id) => id.startsWith(prefix));
  const [id, ...others] = ids.includes(prefix) ? [prefix] : ids;
  if (id !== undefined && others.length === 0) return id;
  const among = total > MAX_PAGE ? ` among the newest ${formatCount(MAX_PAGE)}` : '';
  if (id === undefined) throw new CliError(EXIT.refused, `There is no purge ${prefix}${among}.`);
  throw usage(
    [`Several purges begin with ${prefix}:`, ...ids.slice(0, 5).map((one) => `  ${printable(one)}`)].join(
      '\n',
    ),
  );
}

/** Follows a purge to its end. Ctrl+C stops following, but not the purge. */
export async function followPurgeCommand(
  idOrPrefix: string,
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const id = await resolvePurgeId(idOrPrefix, gateway);
  const stopped = new AbortController();
  const release = context.onInterrupt(() => stopped.abort());
  try {
    const views = followPurge(gateway, id, context, { stopOn: stopped.signal });
    const code = await showProgress(views, options, context, stopped);
    if (code === EXIT.interrupted)
      writeLines(
        context.stderr,
        `The purge continues. To stop it: ${commandText(`purges cancel ${id}`, context)}`,
      );
    return code;
  } finally {
    release();
  }
}

/**
 * Cancels a purge, and waits until its deletes in flight have ended.
 *
 * @returns `failed` for a purge that had already ended: there was nothing to cancel
 */
export async function cancelPurgeCommand(
  idOrPrefix: string,
  { json }: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const purge = await resolvePurgeId(idOrPrefix, gateway);
  const before = readPurge(await gateway.json('get', '/purges/{purge}', { path: { purge } }));
  if (isFinal(before)) {
    if (json === true) writeJsonLine(context, before);
    writeLines(context.stderr, `The purge ${purge} has already ended: ${before.state}.`);
    return EXIT.failed;
  }
  let last: PurgeView = await cancelPurge(gateway, purge);
  if (!isFinal(last)) for await (const view of followPurge(gateway, purge, context, {})) last = view;
  writeDocument(last, { json }, () => summaryOf(last, undefined, context), context);
  return EXIT.done;
}

/** Changes how fast a running purge may delete. @param rate deletes per second, or `off` */
export async function throttlePurgeCommand(
  idOrPrefix: string,
  rate: string,
  { json, concurrency }: OutputOptions & { readonly concurrency?: number },
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  if (rate !== 'off' && !/^[1-9]\d{0,8}$/.test(rate))
    throw usage(
      `The rate must be a whole number of deletes per second from 1, or off, not ${JSON.stringify(rate)}.`,
    );
  const perSecond = rate === 'off' ? null : Number(rate);
  const body = { ...rateOf(perSecond), ...defined({ concurrency }) };
  const purge = await resolvePurgeId(idOrPrefix, gateway);
  const record = readPurge(await gateway.json('patch', '/purges/{purge}', { path: { purge }, body }));
  const fast = perSecond === null ? 'as fast as it can' : `at most ${formatCount(perSecond)} a second`;
  writeDocument(record, { json }, () => [`Purge ${purge} deletes ${fast}.`], context);
  return EXIT.done;
}
