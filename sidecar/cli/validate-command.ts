import type { ApiClient } from '../client/client.js';
import { ApiError } from '../client/errors.js';
import type { Schemas } from '../client/operations.js';
import { writeLines, writeJsonLine, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, usage } from './exit-codes.js';
import { formatCount, printable } from './format.js';
import { gatewayFailure } from './gateway-responses.js';
import { readJsonText } from './json-file.js';
import type { Checked, Checker, LocalCheckerOptions } from './local-checker.js';
import { modelNamed } from './model-name.js';

type Verdict = Schemas['Verdict'];

export interface ValidateOptions {
  /** `DOMAIN/MODEL` of a gateway; with `schema`, only the name of the model. */
  readonly model?: string;
  /**
   * To check without a gateway: first a schema, the folder of a model or a folder of models, then folders with shared
   * documents.
   */
  readonly schema?: readonly string[];
  readonly form?: LocalCheckerOptions['form'];
  readonly json?: boolean;
}

/** Checks the entities in files against models of a gateway, or against schemas in files. */
export async function validateFiles(
  files: readonly string[],
  options: ValidateOptions,
  gateway: ApiClient | undefined,
  context: CliContext,
): Promise<ExitCode> {
  const checker = await createChecker(options, gateway, context);
  try {
    let worst: ExitCode = EXIT.done;
    for (const file of files) {
      const code = await validateFile(file, { checker, isOne: files.length === 1, ...options }, context);
      if (SEVERITY.indexOf(code) > SEVERITY.indexOf(worst)) worst = code;
    }
    return worst;
  } finally {
    await checker.close();
  }
}

/** From least to most severe. */
const SEVERITY: readonly ExitCode[] = [EXIT.done, EXIT.partial, EXIT.refused, EXIT.usage, EXIT.failed];

async function createChecker(
  { model, schema = [], form }: ValidateOptions,
  gateway: ApiClient | undefined,
  context: CliContext,
): Promise<Checker> {
  const [path, ...others] = schema;
  if (path !== undefined) {
    const { createLocalChecker } = await import('./local-checker.js');
    return createLocalChecker({ paths: [path, ...others], model, form }, context);
  }
  if (gateway === undefined)
    throw usage(
      'No model given. Use --schema PATH for a schema.json, its folder or a folder of models, ' +
        'or --gateway URL (NGSILD_GATEWAY_URL) and --model DOMAIN/MODEL for a model of a gateway.',
    );
  return createGatewayChecker(gateway, model, form);
}

/** Creates a checker that uses a gateway. Without a model, entities are checked against the models of their types. */
function createGatewayChecker(
  gateway: ApiClient,
  model: string | undefined,
  form: LocalCheckerOptions['form'],
): Checker {
  const path = model === undefined ? undefined : modelNamed(model, '--model');
  const query = { form };
  const answerOf = async (body: string) =>
    path === undefined
      ? gateway.text('post', '/validate', { query, body })
      : gateway.text('post', '/validate/{domain}/{model}', { path, query, body });
  return { check: async (text) => ({ answer: await answerOf(text) }), close: () => Promise.resolve() };
}

interface Validating {
  readonly checker: Checker;
  /** Whether it is the only file. */
  readonly isOne: boolean;
  readonly model?: string;
  readonly json?: boolean;
}

async function validateFile(
  file: string,
  { json, ...validating }: Validating,
  context: CliContext,
): Promise<ExitCode> {
  const { isOne } = validating;
  const checked = await checkedFile(file, validating, context);
  if ('fault' in checked) {
    const { fault, exitCode } = checked;
    const about = fault.startsWith(`${file} `) ? fault.slice(file.length) : `: ${fault}`;
    // The gateway's message may have several lines.
    const message = printable(file) + about.split('\n').map(printable).join('\n');
    if (isOne) throw new CliError(exitCode, message);
    writeLines(context.stderr, message);
    if (json === true) writeJsonLine(context, { file, fault });
    return exitCode;
  }
  const answer = JSON.parse(checked.answer) as Verdict | readonly Verdict[];
  const verdicts = [answer].flat() as readonly Verdict[];
  if (json !== true) writeVerdicts(file, verdicts, { isList: Array.isArray(answer) }, context);
  else if (isOne) writeLines(context.stdout, checked.answer);
  else writeJsonLine(context, { file, answer });
  return verdicts.every(({ valid }) => valid) ? EXIT.done : EXIT.partial;
}

/**
 * Checks one file. Of several files, one that cannot be read or that the gateway refuses does not stop the others from being
 * checked.
 */
async function checkedFile(
  file: string,
  { checker, isOne, model }: Validating,
  context: CliContext,
): Promise<Checked> {
  try {
    return await checker.check(await readJsonText(file, context));
  } catch (error) {
    const end = gatewayFailure(error);
    if (isOne || !(end instanceof CliError) || end.exitCode === EXIT.failed || wouldFailForAll(error, model))
      throw error;
    return { fault: end.message, exitCode: end.exitCode };
  }
}

/**
 * Whether a gateway would refuse every other file as well, because of the caller or because it does not have the named model.
 */
function wouldFailForAll(error: unknown, model: string | undefined): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status } = error.problem;
  return status === 401 || status === 403 || (status === 404 && model !== undefined);
}

function writeVerdicts(
  file: string,
  verdicts: readonly Verdict[],
  { isList }: { readonly isList: boolean },
  { stdout }: CliContext,
): void {
  for (const [index, verdict] of verdicts.entries()) {
    const where = isList ? `${file}[${index}]` : file;
    const lines = [
      ...verdict.errors.map((error) => `  ${placeIn(error)}: ${error.detail}`),
      ...verdict.warnings.map((warning) => `  warning: ${placeIn(warning)}: ${warning.detail}`),
    ];
    if (!verdict.valid || lines.length > 0 || !isList)
      writeLines(stdout, `${where}: ${verdict.valid ? 'valid' : 'not valid'}`, ...lines.map(printable));
  }
  if (!isList) return;
  const invalid = verdicts.filter(({ valid }) => !valid).length;
  writeLines(stdout, `${formatCount(verdicts.length - invalid)} valid, ${formatCount(invalid)} not valid`);
}

/** Formats where a finding is: `/speed, line 7`. */
function placeIn({ pointer, line }: Verdict['warnings'][number] | Verdict['errors'][number]): string {
  return `${pointer === '' ? '(whole)' : pointer}, line ${line}`;
}
