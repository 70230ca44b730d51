import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ifMatch, type ApiClient, type WithETag } from '../client/client.js';
import { isObject } from '../shared/json/json.js';
import { askYesNo, isInteractive, writeLines, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { gatewayFailure } from './gateway-responses.js';
import { readJsonText } from './json-file.js';
import { writeDocument } from './output.js';
import type { GatewayAction } from './program-options.js';

type Json = Readonly<Record<string, unknown>>;

/** A kind of named resource that is always written as a whole, such as policies. */
export interface AppliedKind {
  /** Undefined if there is none of this name. */
  read(name: string, gateway: ApiClient): Promise<WithETag<object> | undefined>;
  put(
    name: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    gateway: ApiClient,
  ): Promise<{ readonly status: number; readonly value: unknown }>;
  /** Members that only the gateway sets. They are dropped, so that the output of `list` can be applied again. */
  readonly readOnly: readonly string[];
  /** Values of members that the file omits. */
  readonly defaults: Json;
}

export interface ApplyOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Change {
  readonly name: string;
  /** The members that differ, as lines of text. Empty if the gateway already has the same resource. */
  readonly lines: readonly string[];
}

/**
 * Makes the command that creates or replaces the resources in a JSON or YAML file, which has one document, a list, or
 * several documents. On a terminal, it shows the changes first and asks for confirmation. It fails with a CliError for
 * the first resource that the gateway refuses.
 */
export function applying(kind: AppliedKind): GatewayAction<[file: string], ApplyOptions> {
  return (file, options, gateway, context) => applyFile(file, kind, options, gateway, context);
}

async function applyFile(
  file: string,
  kind: AppliedKind,
  { dryRun, yes, json }: ApplyOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const wanted = named(documentsIn(file, await readJsonText(file, context)), file);
  if (wanted.length === 0) {
    writeLines(context.stderr, `${file} has no policies. Nothing was changed.`);
    return EXIT.done;
  }
  const isAsked = dryRun !== true && yes !== true && isInteractive(context);
  /** What the answer of the user is about: the ETags of the resources that were compared. */
  const compared = new Map<string, string | undefined>();
  if (dryRun === true || isAsked) {
    const changes: Change[] = [];
    for (const { name, document } of wanted) {
      const stored = await kind.read(name, gateway);
      compared.set(name, stored?.etag);
      changes.push(changeOf(name, without(document, kind.readOnly), stored?.value, kind));
    }
    const shown = dryRun === true ? context.stdout : context.stderr;
    for (const { name, lines } of changes)
      writeLines(
        shown,
        lines.length === 0 ? `${printable(name)}: no change` : `${printable(name)}:`,
        ...lines,
      );
    if (dryRun === true || changes.every(({ lines }) => lines.length === 0)) return EXIT.done;
    if (!(await askYesNo(context, 'Apply? [y/N] ', new AbortController().signal))) {
      writeLines(context.stderr, 'Nothing was changed.');
      return EXIT.interrupted;
    }
  }
  for (const [index, { name, document }] of wanted.entries()) {
    const body = JSON.stringify(without(document, kind.readOnly));
    const headers = isAsked ? ifMatch(compared.get(name)) : {};
    const { status, value } = await kind.put(name, body, headers, gateway).catch((caught: unknown) => {
      const error = gatewayFailure(caught);
      if (!(error instanceof CliError) || wanted.length === 1) throw error;
      const applied = `${index} of ${wanted.length} policies in ${file} were applied.`;
      throw new CliError(error.exitCode, `${printable(name)}: ${error.message}\n${applied}`, {
        cause: error,
      });
    });
    const done = `${printable(name)} ${status === 201 ? 'created' : 'replaced'}`;
    writeDocument(value, { json }, () => [done], context);
    for (const warning of warningsIn(value))
      writeLines(context.stderr, `Warning: ${printable(name)}: ${printable(warning)}`);
  }
  return EXIT.done;
}

/** Returns the warnings in the gateway's answer. */
function warningsIn(value: unknown): readonly string[] {
  const warnings: unknown = isObject(value) ? value['warnings'] : undefined;
  return Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [];
}

/** Parses YAML (JSON is a subset of it), or JSON with one document per line, as `list --json` writes it. */
function documentsIn(file: string, text: string): readonly unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    if (lines.length > 1) return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    // Not one document per line.
  }
  const unreadable = ({ message }: Error) =>
    usage(`${file} is neither JSON nor YAML: ${printable(message.split('\n', 1)[0] ?? '')}`);
  const found = [parseAllDocuments(text, { merge: true })].flat();
  const [error] = found.flatMap(({ errors }) => errors);
  if (error !== undefined) throw unreadable(error);
  try {
    return found.flatMap((document) => JSON.parse(JSON.stringify(document)) as unknown);
  } catch (cause) {
    // An alias may be undefined, refer to itself, or expand to far too much.
    throw cause instanceof Error ? unreadable(cause) : cause;
  }
}

/** Reads the names of the documents. @throws CliError if a document has no name, or the name of another */
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

/** Compares the file with the stored resource. For a new resource, lists everything in the file. */
function changeOf(name: string, body: Json, stored: object | undefined, kind: AppliedKind): Change {
  const before = stored === undefined ? {} : without(stored, kind.readOnly);
  const after = stored === undefined ? body : { ...kind.defaults, ...body };
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const lines = members.flatMap((member) => {
    const [old, now] = [before[member], after[member]];
    if (isDeepStrictEqual(old, now)) return [];
    return [
      ...(old === undefined ? [] : [`  - ${member}: ${JSON.stringify(old)}`]),
      ...(now === undefined ? [] : [`  + ${member}: ${JSON.stringify(now)}`]),
    ].map(printable);
  });
  return { name, lines };
}
