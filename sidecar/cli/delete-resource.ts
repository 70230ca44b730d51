import { ifMatch, type ApiClient, type WithETag } from '../client/client.js';
import { askYesNo, isInteractive, writeLines, type CliContext } from './context.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { writeDocument } from './output.js';
import type { GatewayAction } from './program-options.js';

export interface DeleteOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** A kind of named resource that can be deleted. */
interface DeletedKind {
  /** What it is called in the question. */
  readonly noun: string;
  read(name: string, gateway: ApiClient): Promise<WithETag<object>>;
  delete(name: string, headers: Readonly<Record<string, string>>, gateway: ApiClient): Promise<unknown>;
}

/**
 * Makes the command that deletes a resource of a gateway. It asks first, and fails if the resource was changed meanwhile. With
 * `--json` it prints what was deleted, in a form that can be applied again.
 */
export function deleting(kind: DeletedKind): GatewayAction<[name: string], DeleteOptions> {
  return async (name, options, gateway, context) => {
    requireYesOrTerminal(options, context);
    const { value, etag } = await kind.read(name, gateway);
    if (!(await isConfirmed(`${kind.noun} ${printable(name)}`, options, context))) return EXIT.interrupted;
    await kind.delete(name, ifMatch(etag), gateway);
    return showDeleted(name, value, options, context);
  };
}

/** @throws CliError if the user has to be asked and there is no terminal */
export function requireYesOrTerminal({ yes }: DeleteOptions, context: CliContext): void {
  if (yes !== true && !isInteractive(context))
    throw usage('There is no terminal to ask for confirmation: add --yes to delete without asking.');
}

/** Asks whether to delete something, unless `--yes` was given. @param what such as `the context test` */
export async function isConfirmed(
  what: string,
  { yes }: DeleteOptions,
  context: CliContext,
): Promise<boolean> {
  if (yes === true) return true;
  if (await askYesNo(context, `Delete ${what}? [y/N] `, new AbortController().signal)) return true;
  writeLines(context.stderr, 'Nothing was deleted.');
  return false;
}

/** Says that something was deleted. @param document what it was */
export function showDeleted(
  name: string,
  document: object,
  { json }: DeleteOptions,
  context: CliContext,
): ExitCode {
  writeDocument(document, { json }, () => [`${printable(name)} deleted`], context);
  return EXIT.done;
}
