import { isFinal } from '../client/purges.js';
import type { ApiClient } from '../client/client.js';
import { say, sayJson, type CliContext } from './context.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';
import { formatCount, formatTable, printable } from './format.js';
import { cancelPurge, demandId, followPurge } from './gateway-place.js';
import { follow } from './purge-command.js';
import { readPurge, summaryOf, type PurgeView } from './purge-view.js';
import { cut } from '../shared/shown.js';

export interface ListOptions {
  readonly state?: PurgeView['state'];
  readonly tenant?: string;
  readonly caller?: string;
  /** True: only dry runs; false: no dry runs. */
  readonly dryRun?: boolean;
  readonly limit?: number;
  readonly offset?: number;
  readonly json?: boolean;
}

const QUERY_SHOWN = 80;

/** Lists purges, newest first. @throws CliError */
export async function listPurges(
  { json, ...filter }: ListOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { items, total } = await gateway.page('/purges', { query: filter });
  const records = items.map(readPurge);
  if (json === true) {
    for (const record of records) sayJson(context, record);
    return EXIT.done;
  }
  if (records.length === 0) {
    say(context.stderr, 'There are no such purges.');
    return EXIT.done;
  }
  const head = ['ID', 'STATE', 'TARGET', 'MATCHED', 'DELETED', 'FAILED', 'TENANT', 'CREATED', 'QUERY'];
  say(context.stdout, ...formatTable([head, ...records.map(rowOf)]));
  const shown = (filter.offset ?? 0) + records.length;
  if (total > shown) say(context.stderr, `${formatCount(total - shown)} more: --offset ${shown}`);
  return EXIT.done;
}

function rowOf(record: PurgeView): readonly string[] {
  const { id = '', state, target, matched, deleted, failed, tenant, createdAt, dryRun, query } = record;
  const counts = [matched, deleted, failed].map((count) => formatCount(count));
  const shown = cut(query, QUERY_SHOWN);
  return [
    ...[id, dryRun ? `${state} (dry)` : state, target, ...counts, tenant ?? '-', createdAt ?? '-', shown],
  ].map(printable);
}

/** Shows the record of a purge. @throws CliError */
export async function showPurge(
  id: string,
  { json }: { readonly json?: boolean },
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const record = readPurge(await gateway.json('get', '/purges/{purge}', { path: { purge: demandId(id) } }));
  if (json === true) {
    sayJson(context, record);
    return EXIT.done;
  }
  const rows = Object.entries(record).flatMap(([name, value]) => {
    if (value === null || (Array.isArray(value) && value.length === 0)) return [];
    const text =
      typeof value === 'string'
        ? value
        : typeof value === 'number'
          ? formatCount(value)
          : JSON.stringify(value);
    return [[name, printable(text)]];
  });
  say(context.stdout, ...formatTable(rows));
  return EXIT.done;
}

/** Follows a purge to its end; Ctrl+C leaves it alone. @throws CliError */
export async function followOne(
  id: string,
  options: { readonly json?: boolean },
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const stopped = new AbortController();
  const release = context.onInterrupt(() => stopped.abort());
  try {
    const views = followPurge(gateway, id, context.clock, { stopOn: stopped.signal });
    const code = await follow(views, options, context, () => stopped.signal.aborted);
    if (code === EXIT.interrupted)
      say(context.stderr, `The purge continues. To stop it: ngsi-ld-gateway purges cancel ${id}`);
    return code;
  } finally {
    release();
  }
}

/** Cancels a purge, and waits until its deletes in flight have ended. @throws CliError */
export async function cancelOne(
  id: string,
  { json }: { readonly json?: boolean },
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  let last: PurgeView = await cancelPurge(gateway, id);
  if (!isFinal(last)) for await (const view of followPurge(gateway, id, context.clock, {})) last = view;
  if (json === true) sayJson(context, last);
  else say(context.stdout, ...summaryOf(last, undefined));
  return EXIT.done;
}

/** Changes how fast a running purge may delete. @param rate deletes per second, or `off` @throws CliError */
export async function throttleOne(
  id: string,
  rate: string,
  { json, concurrency }: { readonly json?: boolean; readonly concurrency?: number },
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  if (rate !== 'off' && !/^[1-9]\d{0,8}$/.test(rate))
    throw usage(
      `The rate must be a whole number of deletes per second from 1, or off, not ${JSON.stringify(rate)}.`,
    );
  const body = {
    maxPerSecond: rate === 'off' ? null : Number(rate),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
  const record = readPurge(
    await gateway.json('patch', '/purges/{purge}', { path: { purge: demandId(id) }, body }),
  );
  if (json === true) sayJson(context, record);
  else
    say(
      context.stdout,
      `Purge ${id} deletes ${rate === 'off' ? 'as fast as it can' : `at most ${formatCount(Number(rate))} a second`}.`,
    );
  return EXIT.done;
}
