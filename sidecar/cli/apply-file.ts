import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { ApiClient } from '../client/client.js';
import { writeJson } from '../shared/json/lossless-json.js';
import { ask } from './ask.js';
import { canAsk, say, sayJson, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { gatewayFailure } from './gateway-answers.js';
import { readJsonText } from './json-file.js';

type Json = Readonly<Record<string, unknown>>;

/** Resources that have names and are put as a whole, such as policies. */
export interface AppliedKind {
  /** Undefined if there is none of this name. */
  read(name: string, gateway: ApiClient): Promise<object | undefined>;
  put(
    name: string,
    body: string,
    gateway: ApiClient,
  ): Promise<{ readonly status: number; readonly value: unknown }>;
  /** Members that only the gateway sets. They are left out, so that what was listed can be applied again. */
  readonly readOnly: readonly string[];
  /** What members are that the file leaves out. */
  readonly defaults: Json;
}

export interface ApplyOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Change {
  readonly name: string;
  /** Members that differ, as lines. Empty if the gateway has it like that already. */
  readonly lines: readonly string[];
}

/**
 * Creates or replaces what a JSON or YAML file has: one document, a list, or several documents. On a terminal, what changes is
 * shown before, and asked about.
 *
 * @throws CliError for the first that is refused
 */
export async function applyFile(
  file: string,
  kind: AppliedKind,
  { dryRun, yes, json }: ApplyOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const wanted = named(documentsIn(file, await readJsonText(file, context)), file);
  const isAsked = dryRun !== true && yes !== true && canAsk(context);
  if (dryRun === true || isAsked) {
    const changes: Change[] = [];
    for (const { name, document } of wanted)
      changes.push(changeOf(name, without(document, kind.readOnly), await kind.read(name, gateway), kind));
    const shown = dryRun === true ? context.stdout : context.stderr;
    for (const { name, lines } of changes)
      say(shown, lines.length === 0 ? `${printable(name)}: no change` : `${printable(name)}:`, ...lines);
    if (dryRun === true || changes.every(({ lines }) => lines.length === 0)) return EXIT.done;
    if (!(await ask(context, 'Apply? [y/N] ', new AbortController().signal))) {
      say(context.stderr, 'Nothing was changed.');
      return EXIT.interrupted;
    }
  }
  for (const [index, { name, document }] of wanted.entries()) {
    const body = writeJson(without(document, kind.readOnly));
    const { status, value } = await kind.put(name, body, gateway).catch((caught: unknown) => {
      const error = gatewayFailure(caught);
      if (!(error instanceof CliError) || wanted.length === 1) throw error;
      const applied = `${index} of ${wanted.length} policies of ${file} were applied.`;
      throw new CliError(error.exitCode, `${printable(name)}: ${error.message}\n${applied}`, {
        cause: error,
      });
    });
    if (json === true) sayJson(context, value);
    else say(context.stdout, `${printable(name)} ${status === 201 ? 'created' : 'replaced'}`);
    for (const warning of warningsIn(value))
      say(context.stderr, `Warning: ${printable(name)}: ${printable(warning)}`);
  }
  return EXIT.done;
}

/** What the gateway has to say of something that it took. */
function warningsIn(value: unknown): readonly string[] {
  const warnings: unknown = isObject(value) ? value['warnings'] : undefined;
  return Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [];
}

/** JSON is YAML, too; `list --json` writes a document a line. @throws CliError */
function documentsIn(file: string, text: string): readonly unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    if (lines.length > 1) return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    // Not one document a line.
  }
  const unreadable = ({ message }: Error) =>
    usage(`${file} is neither JSON nor YAML: ${printable(message.split('\n', 1)[0] ?? '')}`);
  const found = [parseAllDocuments(text, { merge: true })].flat();
  const [error] = found.flatMap(({ errors }) => errors);
  if (error !== undefined) throw unreadable(error);
  try {
    return found.flatMap((document) => JSON.parse(JSON.stringify(document)) as unknown);
  } catch (cause) {
    // Aliases may lead nowhere, back to themselves, or to far too much.
    throw cause instanceof Error ? unreadable(cause) : cause;
  }
}

/** @throws CliError for what has no name, or the name of another */
function named(documents: readonly unknown[], file: string) {
  const all = documents.map((document, index) => {
    const name = isObject(document) ? document['name'] : undefined;
    if (!isObject(document) || typeof name !== 'string') {
      const which = documents.length === 1 ? 'The policy' : `Policy ${index + 1}`;
      throw usage(`${which} in ${file} must be an object with a name.`);
    }
    return { name, document };
  });
  const twice = all.find(({ name }, index) => all.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw usage(`${file} has two policies named ${printable(twice.name)}.`);
  return all;
}

function without(document: object, members: readonly string[]): Json {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !members.includes(name)));
}

/** What changes; of a new one, what the file says. */
function changeOf(name: string, body: Json, stored: object | undefined, kind: AppliedKind): Change {
  const before = stored === undefined ? {} : without(stored, kind.readOnly);
  const after = stored === undefined ? body : { ...kind.defaults, ...body };
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const lines = members.flatMap((member) => {
    const [old, now] = [before[member], after[member]];
    if (isDeepStrictEqual(old, now)) return [];
    return [
      ...(old === undefined ? [] : [`  - ${member}: ${writeJson(old)}`]),
      ...(now === undefined ? [] : [`  + ${member}: ${writeJson(now)}`]),
    ].map(printable);
  });
  return { name, lines };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
