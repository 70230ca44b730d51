import { access, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { JsonValue } from '../shared/json/json.js';
import { isResourceName } from '../shared/resource-name.js';
import { discover } from '../schemas/repository/discover.js';
import type { ImportPlan } from '../schemas/repository/import-plan.js';
import { RepositoryUnclearError } from '../schemas/repository/errors.js';
import { folderOf } from '../schemas/repository/file-paths.js';
import { repositoryTasks, type RepositoryTasks } from '../schemas/repository/tasks.js';
import { contextIn, type FoundModelTexts } from '../schemas/transfer/model-change.js';
import { describeFiles, textOf } from '../schemas/transfer/source.js';
import { CliError, EXIT } from './exit-codes.js';
import { isFolder, readFolder, reading, type FolderFile } from './repository-folder.js';

export interface PushOptions {
  readonly domain?: string;
  readonly model?: string;
}

/** One model of a folder, as an import of everything around it would take it. */
export interface PushPlan {
  readonly domain: string;
  readonly name: string;
  readonly texts: Omit<FoundModelTexts, 'context'>;
  /** The context that it comes with, and the name under which an import stores it. */
  readonly context?: { readonly name: string | undefined; readonly value: JsonValue };
}

/**
 * Finds the model in a folder, or in one schema. What is around it, up to the repository of git or the export that it belongs to,
 * says what it is called, which context it takes, and what its relative `$ref`s mean; nothing of that is sent.
 *
 * @throws CliError where there is no such model; nothing was sent
 */
export async function planPush(path: string, { domain, model }: PushOptions): Promise<PushPlan> {
  for (const name of [domain, model])
    if (name !== undefined && !isResourceName(name))
      throw new CliError(
        EXIT.usage,
        `${JSON.stringify(name)} is not a name: a letter, then up to 127 letters, digits and _ . -`,
      );
  const file = await schemaAt(path);
  const root = await rootAround(dirname(file));
  const top = basename(root) || 'models';
  const target = top + file.slice(root.length);
  const [files, leftOut]: [FolderFile[], string[]] = [[], []];
  await readFolder(root, top, files, leftOut);

  const repository = files.map(({ path: at, content }) => ({ path: at, bytes: new Uint8Array(content) }));
  const { described, refused } = await describeFiles(repository, HERE);
  const unread = [...refused.map(({ path: at, reason }) => `${at}: ${reason}`), ...leftOut];
  demandRead(target, path, unread);
  const plan = planOf(() => discover(described, domain, { path: target, name: model }));
  const [planned] = plan.models;
  if (planned === undefined) {
    const reason = plan.refused.find((one) => one.path === target)?.reason;
    throw new CliError(EXIT.usage, `${path} is not a model. ${reason ?? 'It has to be a JSON Schema.'}`);
  }
  for (let around = folderOf(target); around !== ''; around = folderOf(around.slice(0, -1)))
    for (const beside of ['context.jsonld', 'meta.json'])
      demandRead(around + beside, around + beside, unread);

  const contents = new Map(repository.map(({ path: at, bytes }) => [at, bytes]));
  const textAt = (at: string) => textOf(contents.get(at) ?? new Uint8Array());
  const { context, settings, id } = planned;
  const stored = plan.contexts.find((one) => one.path === context);
  return {
    domain: planned.domain,
    name: planned.name,
    texts: {
      schema: textAt(target),
      id,
      settings: settings === undefined ? undefined : textAt(settings),
    },
    ...(context === undefined
      ? {}
      : {
          context: {
            name: stored?.name,
            value: contextIn(textAt(context), stored?.base),
          },
        }),
  };
}

/** The path of the schema, without links. */
async function schemaAt(path: string): Promise<string> {
  const at = await reading(path, () => realpath(path));
  if (!(await isFolder(at))) return at;
  const schema = join(at, 'schema.json');
  if (!(await isThere(schema)))
    throw new CliError(
      EXIT.usage,
      `${path} has no schema.json: name the folder of one model, or its schema.`,
    );
  return schema;
}

/** The folder that an import would be given: the root of an export or of a repository of git; else the folder of the model. */
async function rootAround(folder: string): Promise<string> {
  const domains = dirname(dirname(folder));
  if (basename(domains) === 'domains' && (await isThere(join(folder, 'meta.json')))) return dirname(domains);
  for (let around = folder; around !== dirname(around); around = dirname(around))
    if (await isThere(join(around, '.git'))) return around;
  return folder;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** @throws CliError where a file that matters could not be read */
function demandRead(target: string, path: string, unread: readonly string[]): void {
  const why = unread.find((line) => line.startsWith(`${target} `) || line.startsWith(`${target}: `));
  if (why !== undefined) throw new CliError(EXIT.usage, `${path} cannot be taken. ${why}`);
}

function planOf(plan: () => ImportPlan): ImportPlan {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof RepositoryUnclearError)) throw error;
    throw new CliError(EXIT.usage, 'Nothing says which domain the model belongs to: add --domain.', {
      cause: error,
    });
  }
}

/** No others wait for this process, so that no worker is needed. */
const HERE: Parameters<typeof describeFiles>[1] = {
  workers: {
    run: (kind, input) =>
      Promise.resolve(
        (repositoryTasks[kind] as (input: unknown) => unknown)(input) as Awaited<
          ReturnType<RepositoryTasks[typeof kind]>
        >,
      ),
  },
};
