import { allPages, type ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { DEFAULT_RETENTION } from '../jobs/retention/defaults.js';
import { applying } from './apply-file.js';
import type { CliContext } from './context.js';
import { deleting } from './delete-resource.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { formatCount, formatItems, printable } from './format.js';
import { requireMembers, undefinedIfNotFound } from './gateway-responses.js';
import { shownQuery, writeList, writeDocument } from './output.js';
import type { OutputOptions } from './program-options.js';
import { followPurgeCommand } from './purges-commands.js';
import { readPurge, unitOf } from './purge-view.js';

const POLICY = '/retention-policies/{retentionPolicy}';
const QUERY_SHOWN = 60;

type Policy = Schemas['ListedRetentionPolicy'];

/** Lists the policies by name. */
export async function listPolicies(
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies = await allPages((query) => gateway.page('/retention-policies', { query }));
  const row = (policy: Policy) => rowOf(policy, context);
  const table = { head: HEAD, row, none: 'There are no retention policies.' };
  writeList(policies, options, table, context);
  return EXIT.done;
}

const HEAD = [
  'NAME',
  'MODE',
  'SCHEDULE',
  'ZONE',
  'OLDER THAN',
  'BY',
  'TARGET',
  'TENANT',
  'LAST RUN',
  'QUERY',
];

function rowOf(policy: Policy, context: CliContext): readonly string[] {
  const { enabled, mode, lastRun, query } = policy;
  return [
    policy.name,
    enabled ? mode : `${mode} (off)`,
    policy.schedule,
    policy.timeZone,
    policy.olderThan,
    policy.by,
    policy.target,
    policy.tenant ?? '-',
    lastRun === undefined ? '-' : lastRunOf(lastRun),
    shownQuery(query, QUERY_SHOWN, context),
  ].map(printable);
}

/** Formats the time and the result of a run. Marks dry runs: they deleted nothing, even if they succeeded. */
function lastRunOf({ createdAt, state, dryRun, heldBack }: NonNullable<Policy['lastRun']>): string {
  const why = heldBack === true ? ' (only reported: maxGrowth)' : dryRun ? ' (only reported)' : '';
  return `${createdAt} ${state}${why}`;
}

/** Creates or replaces the policies in a file. */
export const applyPolicies = applying({
  read: (name, gateway) =>
    undefinedIfNotFound(gateway.answer('get', POLICY, { path: { retentionPolicy: name } })),
  put: (name, body, headers, gateway) =>
    gateway.answer('put', POLICY, { path: { retentionPolicy: name }, body, headers }),
  readOnly: ['caller', 'createdAt', 'modifiedAt', 'lastRun'],
  defaults: DEFAULT_RETENTION,
});

/** Deletes a policy. The records of its runs stay. */
export const deletePolicy = deleting({
  noun: 'the retention policy',
  read: (name, gateway) => gateway.answer('get', POLICY, { path: { retentionPolicy: name } }),
  delete: (name, headers, gateway) =>
    gateway.request('delete', POLICY, { path: { retentionPolicy: name }, headers }),
});

/** Shows what a policy matches now. */
export async function previewPolicy(
  name: string,
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const path = { retentionPolicy: name };
  const answer = await gateway.json('get', `${POLICY}/preview`, { path });
  const preview = requireMembers(answer, 'the preview of a policy', {
    matched: 'number',
    sample: 'array',
    cutoff: 'string',
  });
  writeDocument(preview, options, () => previewLines(preview), context);
  return EXIT.done;
}

function previewLines(preview: Schemas['RetentionPreview']): readonly string[] {
  const { matched, sample, cutoff, reportAbove } = preview;
  const ids = sample.map((id) => `  ${printable(id)}`);
  const items = printable(formatItems(matched, unitOf({ ...preview, target: 'entities' })));
  const are = matched === 1 ? 'is' : 'are';
  const lines = [`${items} ${are} older than ${printable(cutoff)}${ids.length > 0 ? ':' : '.'}`, ...ids];
  if (matched > ids.length && ids.length > 0) lines.push('  …');
  if (reportAbove !== undefined) {
    const most = formatCount(reportAbove);
    lines.push(`That is more than the ${most} that maxGrowth allows: a run would only report.`);
  }
  return lines;
}

/** Runs a policy and follows the run. Ctrl+C stops following, but not the run. */
export async function runPolicy(
  name: string,
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { id } = readPurge(await gateway.json('post', `${POLICY}/run`, { path: { retentionPolicy: name } }));
  return followPurgeCommand(id, options, gateway, context);
}
