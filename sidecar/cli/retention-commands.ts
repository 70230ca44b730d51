import { say, sayJson, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';
import { formatCount, formatTable, printable } from './format.js';
import type { GatewayClient } from './gateway-client.js';
import { parseJson, readJsonText } from './json-file.js';
import { followOne } from './purges-commands.js';
import { readPurge } from './purge-view.js';

const PATH = '/api/v2/retention-policies';
const MAX_PAGE = 1000;
const QUERY_SHOWN = 60;

interface JsonOption {
  readonly json?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** Members that a gateway adds: what it lists can be applied again. */
const READ_ONLY = ['caller', 'createdAt', 'modifiedAt'];

/** Lists the policies by name. @throws CliError */
export async function listPolicies(
  { json }: JsonOption,
  gateway: GatewayClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies: Json[] = [];
  for (let isLast = false; !isLast;) {
    const page = await gateway.json('GET', `${PATH}?limit=${MAX_PAGE}&offset=${policies.length}`);
    if (!Array.isArray(page)) throw new CliError(EXIT.failed, 'The gateway did not answer with a list.');
    policies.push(...(page as Json[]));
    isLast = page.length < MAX_PAGE;
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

function rowOf(policy: Json): readonly string[] {
  const { name, mode, enabled, schedule, timeZone, olderThan, by, target, tenant = '-' } = policy;
  const query = String(policy['query']);
  return [
    ...[name, enabled === false ? `${String(mode)} (off)` : mode, schedule, timeZone, olderThan, by, target],
    ...[tenant, query.length > QUERY_SHOWN ? `${query.slice(0, QUERY_SHOWN)}…` : query],
  ].map((cell) => printable(String(cell)));
}

/** Creates or replaces the policies of a file, in its order. @throws CliError for the first that is refused */
export async function applyPolicies(
  file: string,
  { json }: JsonOption,
  gateway: GatewayClient,
  context: CliContext,
): Promise<ExitCode> {
  const policies = await readPolicies(file, context);
  const named = policies.map((policy, index) => {
    const name = isObject(policy) ? policy['name'] : undefined;
    if (!isObject(policy) || typeof name !== 'string') {
      const which = policies.length === 1 ? 'The policy' : `Policy ${index + 1}`;
      throw new CliError(EXIT.usage, `${which} in ${file} must be an object with a name.`);
    }
    return { name, policy };
  });
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) < index);
  if (twice !== undefined)
    throw new CliError(EXIT.usage, `${file} has two policies named ${printable(twice.name)}.`);
  for (const [index, { name, policy }] of named.entries()) {
    const settings = Object.entries(policy).filter(([member]) => !READ_ONLY.includes(member));
    const body = JSON.stringify(Object.fromEntries(settings));
    const { status, text } = await gateway.send('PUT', pathOf(name), { body }).catch((error: unknown) => {
      if (!(error instanceof CliError) || named.length === 1) throw error;
      const applied = `${index} of ${named.length} policies of ${file} were applied.`;
      throw new CliError(error.exitCode, `${printable(name)}: ${error.message}\n${applied}`, {
        cause: error,
      });
    });
    if (json === true) sayJson(context, JSON.parse(text));
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
    // One document over several lines.
  }
  return [parseJson(file, text)].flat();
}

/** Shows what a policy matches now. @throws CliError */
export async function previewPolicy(
  name: string,
  { json }: JsonOption,
  gateway: GatewayClient,
  context: CliContext,
): Promise<ExitCode> {
  const preview = await gateway.json('GET', `${pathOf(name)}/preview`);
  if (!isObject(preview)) throw new CliError(EXIT.failed, 'The gateway did not answer with a preview.');
  if (json === true) {
    sayJson(context, preview);
    return EXIT.done;
  }
  const { matched, sample, cutoff, reportAbove } = preview;
  const ids = Array.isArray(sample) ? sample.map((id) => `  ${printable(String(id))}`) : [];
  const count = formatCount(Number(matched));
  say(
    context.stdout,
    `${count} are older than ${printable(String(cutoff))}${ids.length > 0 ? ':' : '.'}`,
    ...ids,
  );
  if (Number(matched) > ids.length && ids.length > 0) say(context.stdout, '  …');
  if (typeof reportAbove === 'number') {
    const most = formatCount(reportAbove);
    say(context.stdout, `That is more than the ${most} that maxGrowth allows: a run would only report.`);
  }
  return EXIT.done;
}

/** Runs a policy and follows the run; Ctrl+C leaves it alone. @throws CliError */
export async function runPolicy(
  name: string,
  options: JsonOption,
  gateway: GatewayClient,
  context: CliContext,
): Promise<ExitCode> {
  const { id = '' } = readPurge(await gateway.json('POST', `${pathOf(name)}/run`));
  return followOne(id, options, gateway, context);
}

function pathOf(name: string): string {
  return `${PATH}/${encodeURIComponent(name)}`;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
