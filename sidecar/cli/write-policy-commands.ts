import { allPages, type ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { applying } from './apply-file.js';
import type { CliContext } from './context.js';
import { deleting } from './delete-resource.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { formatCount, formatItems, formatTable, printable } from './format.js';
import { undefinedIfNotFound } from './gateway-responses.js';
import { writeList, writeDocument } from './output.js';
import type { OutputOptions } from './program-options.js';

const POLICY = '/write-policies/{writePolicy}';
const FINDINGS_SHOWN = 20;

type Policy = Schemas['WritePolicy'];
type Checks = Schemas['WriteChecks'];

/** Lists the write policies by name. */
export async function listWritePolicies(
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies = await allPages((query) => gateway.page('/write-policies', { query }));
  const table = { head: HEAD, row: rowOf, none: 'There are no write policies.' };
  writeList(policies, options, table, context);
  return EXIT.done;
}

const HEAD = [
  'NAME',
  'MODE',
  'PRIORITY',
  'TENANT',
  'TYPES',
  'CALLERS',
  'MODEL',
  'UNJUDGED',
  'FAILURE',
  'BATCH',
];

function rowOf(policy: Policy): readonly string[] {
  const { name, mode, priority, tenant, types, callers, model = '-', onUnjudged, onFailure, batch } = policy;
  return [
    name,
    mode,
    String(priority),
    tenant === '' ? '(default)' : (tenant ?? '-'),
    types?.join(' ') ?? '-',
    callers?.join(' ') ?? '-',
    model,
    onUnjudged,
    onFailure,
    batch,
  ].map(printable);
}

export const applyWritePolicies = applying({
  read: (name, gateway) =>
    undefinedIfNotFound(gateway.answer('get', POLICY, { path: { writePolicy: name } })),
  put: (name, body, headers, gateway) =>
    gateway.answer('put', POLICY, { path: { writePolicy: name }, body, headers }),
  readOnly: ['caller', 'createdAt', 'modifiedAt', 'warnings'],
  defaults: { priority: 0, onUnjudged: 'accept', batch: 'all' },
});

/** Deletes a write policy. What it decided about is then decided by the next policy that fits, or by WRITE_CHECK. */
export const deleteWritePolicy = deleting({
  noun: 'the write policy',
  read: (name, gateway) => gateway.answer('get', POLICY, { path: { writePolicy: name } }),
  delete: (name, headers, gateway) =>
    gateway.request('delete', POLICY, { path: { writePolicy: name }, headers }),
});

/** Shows a write policy, and what its checks have found. */
export async function showWritePolicy(
  name: string,
  options: OutputOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const policy: Policy = await gateway.json('get', POLICY, { path: { writePolicy: name } });
  const checks: Checks = await gateway.json('get', '/write-checks', { query: { policy: name } });
  writeDocument({ ...policy, checks }, options, () => tableOf(policy, checks), context);
  return EXIT.done;
}

function tableOf(
  policy: Policy,
  { since, checked, invalid, refused, notJudged, findings }: Checks,
): readonly string[] {
  const members = Object.entries(policy).map(([member, value]) => [
    `${member}:`,
    printable(Array.isArray(value) ? value.join(' ') : String(value)),
  ]);
  const counts =
    `Since ${since}: ${formatItems(checked, 'entities')}, ${formatCount(invalid)} ` +
    `invalid, ${formatCount(refused)} refused, ${formatCount(notJudged)} not judged.`;
  const why =
    notJudged === 0
      ? []
      : [
          'Not judged: most often, no published model is for the type, or the @context of the write gives the type another IRI.',
        ];
  const rows = findings
    .slice(0, FINDINGS_SHOWN)
    .map(({ entities, domain, model, pointer, detail, sample }) =>
      [formatCount(entities), `${domain}/${model}`, pointer, detail, sample[0] ?? '-'].map(printable),
    );
  const head = ['ENTITIES', 'MODEL', 'PLACE', 'WHAT', 'EXAMPLE'];
  return [
    ...formatTable(members),
    '',
    counts,
    ...why,
    ...(rows.length === 0 ? [] : formatTable([head, ...rows])),
  ];
}
