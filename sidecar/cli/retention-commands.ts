import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { writeJson } from '../shared/json/lossless-json.js';
import { say, sayJson, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { formatCount, formatTable, printable } from './format.js';
import { expected, gatewayFailure } from './gateway-answers.js';
import { parseJson, readJsonText } from './json-file.js';
import { followOne } from './purges-commands.js';
import { readPurge } from './purge-view.js';

const POLICY = '/retention-policies/{retentionPolicy}';
const MAX_PAGE = 1000;
const QUERY_SHOWN = 60;

interface JsonOption {
  readonly json?: boolean;
}

type Json = Readonly<Record<string, unknown>>;
type Policy = Schemas['RetentionPolicy'];

/** Members that only the gateway sets. They are left out, so that a listed policy can be applied again. */
const READ_ONLY = ['caller', 'createdAt', 'modifiedAt'];

/** Lists the policies by name. @throws CliError */
export async function listPolicies(
  { json }: JsonOption,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies: Policy[] = [];
  for (let isLast = false; !isLast;) {
    const query = { limit: MAX_PAGE, offset: policies.length };
    const { items } = await gateway.page('/retention-policies', { query });
    policies.push(...items);
    isLast = items.length < MAX_PAGE;
  }
  if (json === true) {
    for (const policy of policies) sayJson(context, policy);
    return EXIT.done;
  }
  if (policies.length === 0) {
    say(context.stderr, 'There are no retention policies.');
    return EXIT.done;
  }
  const head = ['NAME', 'MODE', 'SCHEDULE', 'ZONE', 'OLDER THAN', 'BY', 'TARGET', 'TENANT', 'QUERY'];
  say(context.stdout, ...formatTable([head, ...policies.map(rowOf)]));
  return EXIT.done;
}

function rowOf(policy: Policy): readonly string[] {
  const { name, mode, enabled, schedule, timeZone, olderThan, by, target, tenant = '-', query } = policy;
  return [
    ...[name, enabled ? mode : `${mode} (off)`, schedule, timeZone, olderThan, by, target],
    ...[tenant, query.length > QUERY_SHOWN ? `${query.slice(0, QUERY_SHOWN)}…` : query],
  ].map(printable);
}

/** Creates or replaces the policies of a file, in its order. @throws CliError for the first that is refused */
export async function applyPolicies(
  file: string,
  { json }: JsonOption,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies = await readPolicies(file, context);
  const named = policies.map((policy, index) => {
    const name = isObject(policy) ? policy['name'] : undefined;
    if (!isObject(policy) || typeof name !== 'string') {
      const which = policies.length === 1 ? 'The policy' : `Policy ${index + 1}`;
      throw usage(`${which} in ${file} must be an object with a name.`);
    }
    return { name, policy };
  });
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw usage(`${file} has two policies named ${printable(twice.name)}.`);
  for (const [index, { name, policy }] of named.entries()) {
    const settings = Object.entries(policy).filter(([member]) => !READ_ONLY.includes(member));
    const asked = { path: { retentionPolicy: name }, body: writeJson(Object.fromEntries(settings)) };
    const { status, value } = await gateway.answer('put', POLICY, asked).catch((caught: unknown) => {
      const error = gatewayFailure(caught);
      if (!(error instanceof CliError) || named.length === 1) throw error;
      const applied = `${index} of ${named.length} policies of ${file} were applied.`;
      throw new CliError(error.exitCode, `${printable(name)}: ${error.message}\n${applied}`, {
        cause: error,
      });
    });
    if (json === true) sayJson(context, value);
    else say(context.stdout, `${printable(name)} ${status === 201 ? 'created' : 'replaced'}`);
  }
  return EXIT.done;
}

/** The policies of a file: one, an array of them, or one a line, as `list --json` shows them. @throws CliError */
async function readPolicies(file: string, context: CliContext): Promise<readonly unknown[]> {
  const text = await readJsonText(file, context);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    if (lines.length > 1) return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    // Not one policy a line, but one document over several lines.
  }
  return [parseJson(file, text)].flat();
}

/** Shows what a policy matches now. @throws CliError */
export async function previewPolicy(
  name: string,
  { json }: JsonOption,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const path = { retentionPolicy: name };
  const answer = await gateway.json('get', `${POLICY}/preview`, { path });
  const preview = expected(answer, 'the preview of a policy', {
    ...{ matched: 'number', sample: 'array', cutoff: 'string' },
  });
  if (json === true) {
    sayJson(context, preview);
    return EXIT.done;
  }
  const { matched, sample, cutoff, reportAbove } = preview;
  const ids = sample.map((id) => `  ${printable(id)}`);
  const count = formatCount(matched);
  say(context.stdout, `${count} are older than ${printable(cutoff)}${ids.length > 0 ? ':' : '.'}`, ...ids);
  if (matched > ids.length && ids.length > 0) say(context.stdout, '  …');
  if (reportAbove !== undefined) {
    const most = formatCount(reportAbove);
    say(context.stdout, `That is more than the ${most} that maxGrowth allows: a run would only report.`);
  }
  return EXIT.done;
}

/** Runs a policy and follows the run; Ctrl+C leaves it alone. @throws CliError */
export async function runPolicy(
  name: string,
  options: JsonOption,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { id } = readPurge(await gateway.json('post', `${POLICY}/run`, { path: { retentionPolicy: name } }));
  return followOne(id, options, gateway, context);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
