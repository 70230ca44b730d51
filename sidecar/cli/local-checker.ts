import { join } from 'node:path';
import type { JsonValue } from '../shared/json/json.js';
import { parseJson } from '../shared/json/lossless-json.js';
import { GatewayError } from '../shared/errors.js';
import { fileNameOf } from '../schemas/repository/file-paths.js';
import { modelChangeOf } from '../schemas/repository/settings.js';
import { refusalOf } from '../schemas/repository/refusals.js';
import {
  DeadlineExceededError,
  type SchemaService,
  UnreadableBodyError,
  type ValidateOptions,
  WorkbenchRefusedError,
} from '../schemas/models/index.js';
import { writeLines, type CliContext, type LocalModels } from './context.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { importLocally, UNNAMED_DOMAIN } from './local-import.js';
import { pathExists, findModelInRepository, type ModelInRepository } from './model-in-repository.js';
import { requireName } from './push-plan.js';
import { isFolder, readFolders, type ReadFolders } from './repository-folder.js';

/** The result of checking a file: the verdicts in the form of the API, or the reason why there are none. */
export type Checked = { readonly answer: string } | { readonly fault: string; readonly exitCode: ExitCode };

/** Checks the texts of files against models. */
export interface Checker {
  check(text: string): Promise<Checked>;
  close(): Promise<void>;
}

export interface LocalCheckerOptions {
  /** First a schema, the folder of a model, or a folder of models; then folders with shared documents. */
  readonly paths: readonly [string, ...string[]];
  readonly model: string | undefined;
  readonly form: ValidateOptions['form'];
}

/**
 * Loads models from files into a schema service in memory: the model of a schema or of its folder, or all models below a
 * folder. Sends and fetches nothing.
 *
 * @throws CliError if there is no model, or its schema cannot be used
 */
export async function createLocalChecker(
  { paths, model, form }: LocalCheckerOptions,
  context: CliContext,
): Promise<Checker> {
  const [path, ...others] = paths;
  const hasModels = (await isFolder(path)) && !(await pathExists(join(path, 'schema.json')));
  const models = await context.openModels();
  try {
    const validate = hasModels
      ? await byFolder(paths, { model, form }, models, context)
      : await bySchema(path, { others, model, form }, models);
    return { check: (text) => checked(validate(text)), close: () => models.close() };
  } catch (error) {
    await models.close();
    throw error;
  }
}

/** Waits for the answer of the workbench. An error caused by the file becomes a fault. */
async function checked(validating: Promise<string>): Promise<Checked> {
  try {
    return { answer: await validating };
  } catch (error) {
    if (error instanceof UnreadableBodyError) {
      const { line, column, detail } = error.unreadable;
      return { fault: `line ${line}, column ${column}: ${detail}`, exitCode: EXIT.usage };
    }
    if (error instanceof DeadlineExceededError)
      return { fault: 'Checking it took too long and was stopped.', exitCode: EXIT.failed };
    if (!(error instanceof WorkbenchRefusedError)) throw error;
    const faults = error.errors
      .slice(0, MAX_FAULTS)
      .map(({ pointer, detail }) => `${placeOf(pointer)} ${detail}`);
    if (error.kind === 'typeAmbiguous')
      return { fault: `${faults.join('; ')}: choose one with --model.`, exitCode: EXIT.usage };
    const isOfType = error.kind === 'notFound';
    return { fault: isOfType ? `${faults.join('; ')}.` : error.message, exitCode: EXIT.partial };
  }
}

const MAX_FAULTS = 5;

function placeOf(pointer: string): string {
  return pointer === '' ? 'The entity' : pointer;
}

type Validate = (text: string) => Promise<string>;

interface ModelSelection {
  readonly model: string | undefined;
  readonly form: ValidateOptions['form'];
}

/** Validates against one model, with the documents around its schema. The context of the model is not used. */
async function bySchema(
  path: string,
  { others, model, form }: ModelSelection & { readonly others: readonly string[] },
  { service, workbench }: LocalModels,
): Promise<Validate> {
  if (model !== undefined) requireName(model);
  const found = await findModelInRepository(path, { domain: UNNAMED_DOMAIN, name: model, others });
  const { planned, target, textAt } = found;
  const faults = await storeDocuments(found, service);
  const key = { domain: UNNAMED_DOMAIN, name: planned.name };
  const { schema = null } = modelChangeOf({ schema: textAt(target), id: planned.id }, false);
  try {
    const accepted = await service.schemas.ofNew(key, schema);
    return (text) => workbench.validateAgainst(accepted, key, text, { form });
  } catch (error) {
    const at = (await isFolder(path)) ? join(path, 'schema.json') : path;
    throw unusable(at, { text: textAt(target), faults }, error);
  }
}

/** Stores the documents of a plan. @returns sentences that say why documents were left out */
async function storeDocuments(
  { plan, textAt, unread }: ModelInRepository,
  { references }: SchemaService,
): Promise<readonly string[]> {
  const faults = [...unread, ...plan.refused.map(({ path, reason }) => `${path}: ${reason}`)];
  for (const { path, url } of plan.documents) {
    const text = textAt(path);
    try {
      await references.put(url, parseJson(text) as JsonValue);
    } catch (error) {
      faults.push(`${path}: ${refusalOf(error, text, '').reason}`);
    }
  }
  return faults;
}

/**
 * Returns the error that ends the command if a schema cannot be used. It lists documents that were left out, since they may be
 * the reason.
 */
function unusable(
  path: string,
  { text, faults }: { readonly text: string; readonly faults: readonly string[] },
  error: unknown,
): Error {
  const { reason, line } = refusalOf(error, text, '/schema');
  const isMissing = error instanceof GatewayError && (error.members.missing ?? []).length > 0;
  const why = isMissing ? `${error.message}. Add another --schema with the folder that has them.` : reason;
  const lines = [
    `${path}${line === undefined ? '' : `:${line}`}: the schema cannot be used. ${why}`,
    ...(isMissing ? faults.slice(0, MAX_FAULTS).map((fault) => `  ${fault}`) : []),
  ];
  return usage(lines.map(printable).join('\n'), { cause: error });
}

/** Validates against models below a folder: one of them, or the models of the entities' types. */
async function byFolder(
  paths: readonly string[],
  { model, form }: ModelSelection,
  { transfer, workbench }: LocalModels,
  { stderr }: CliContext,
): Promise<Validate> {
  const files = await schemasBelow(paths, stderr);
  const parts = files.map(({ path, content }) => ({ name: path, bytes: content }));
  const report = await importLocally(transfer, parts, {});
  for (const { path, status, reason = '' } of report.files)
    if (status === 'refused') writeLines(stderr, printable(`Left out: ${path}: ${reason}`));
  const titles = report.files.flatMap(({ model: title, status }) =>
    title === undefined || status === 'refused' ? [] : [title],
  );
  if (titles.length === 0)
    throw usage(`There is no model in ${paths.join(', ')}: no schema.json, and no schema with a title.`);
  if (model === undefined) return (text) => workbench.validateByType(text, { form });
  const [title, ...more] = titles.filter((one) => one === model || one.endsWith(`/${model}`));
  if (title === undefined || more.length > 0)
    throw usage(
      `There ${title === undefined ? 'is no model' : 'are several models'} ${model} ` +
        `in ${paths.join(', ')}. Its models are ${titles.slice(0, 20).join(', ')}.`,
    );
  const [domain = '', name = ''] = title.split('/');
  return (text) => workbench.validate({ domain, name }, text, { form });
}

/** Returns the files in folders, except examples, contexts and the settings of exports, which validation does not need. */
async function schemasBelow(
  paths: readonly string[],
  stderr: CliContext['stderr'],
): Promise<ReadFolders['files']> {
  const { files, leftOut } = await readFolders(paths);
  writeLines(stderr, ...[...leftOut.values()].map(printable));
  return files.filter(
    ({ path }) =>
      !/(?:^|\/)examples?\//.test(path) && !path.endsWith('.jsonld') && fileNameOf(path) !== 'meta.json',
  );
}
