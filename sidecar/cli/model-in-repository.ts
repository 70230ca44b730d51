import { access, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { discover } from '../schemas/repository/discover.js';
import { RepositoryUnclearError } from '../schemas/repository/errors.js';
import type { ImportPlan, PlannedModel } from '../schemas/repository/import-plan.js';
import { repositoryTasks, type RepositoryTasks } from '../schemas/repository/tasks.js';
import { describeFiles, textOf } from '../schemas/repository/source.js';
import { usage } from './exit-codes.js';
import { isFolder, readFolders, readOrFail } from './repository-folder.js';

export interface FindModelOptions {
  /** The domain of the model. @default the name of its repository */
  readonly domain?: string | undefined;
  /** The name of the model, instead of the one given by its folder or title. */
  readonly name?: string | undefined;
  /** More folders, with documents that the model shares with other models. */
  readonly others?: readonly string[];
}

export interface ModelInRepository {
  /** The path of the model's schema in the plan. */
  readonly target: string;
  readonly planned: PlannedModel;
  readonly plan: ImportPlan;
  /** Returns the text of a file in the plan. */
  readonly textAt: (path: string) => string;
  /** Files that could not be read, as sentences that begin with their paths. */
  readonly unread: readonly string[];
}

/**
 * Finds the model in a folder, or the model of one schema. Its name, its context and the targets of its relative `$ref`s come
 * from the whole Git repository or export that it belongs to.
 *
 * @throws CliError if there is no such model
 */
export async function findModelInRepository(
  path: string,
  { domain, name, others = [] }: FindModelOptions,
): Promise<ModelInRepository> {
  const file = await schemaAt(path);
  const root = await repositoryRootOf(dirname(file));
  const top = basename(root) || 'models';
  const target = top + file.slice(root.length);
  const { files, leftOut } = await readFolders([root, ...others]);

  const repository = files.map(({ path: at, content }) => ({ path: at, bytes: new Uint8Array(content) }));
  const { described, refused } = await describeFiles(repository, ON_THIS_THREAD);
  const unread = [...refused.map(({ path: at, reason }) => `${at}: ${reason}`), ...leftOut.values()];
  requireRead(target, path, unread);
  const plan = planOf(() => discover(described, { domain, only: { path: target, name } }));
  const [planned] = plan.models;
  if (planned === undefined) {
    const reason = plan.refused.find((one) => one.path === target)?.reason;
    const advice = name === undefined && reason !== undefined ? ' Name it with --model.' : '';
    throw usage(`${path} is not a model. ${reason ?? 'It must be a JSON Schema.'}${advice}`);
  }
  const contents = new Map(repository.map(({ path: at, bytes }) => [at, bytes]));
  return { target, planned, plan, unread, textAt: (at) => textOf(contents.get(at) ?? new Uint8Array()) };
}

/** The path of the schema, with symbolic links resolved. */
async function schemaAt(path: string): Promise<string> {
  const at = await readOrFail(path, () => realpath(path));
  if (!(await isFolder(at))) return at;
  const schema = join(at, 'schema.json');
  if (!(await pathExists(schema)))
    throw usage(`${path} has no schema.json: name the folder of one model, or its schema.`);
  return schema;
}

/** The folder that an import would read: the root of the export or of the Git repository; otherwise the model's own folder. */
async function repositoryRootOf(folder: string): Promise<string> {
  const domains = dirname(dirname(folder));
  if (basename(domains) === 'domains' && (await pathExists(join(folder, 'meta.json'))))
    return dirname(domains);
  for (let parent = folder; parent !== dirname(parent); parent = dirname(parent))
    if (await pathExists(join(parent, '.git'))) return parent;
  return folder;
}

/** Whether a file or folder exists. */
export async function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Requires that a file has been read. @throws CliError if it could not be read */
export function requireRead(target: string, path: string, unread: readonly string[]): void {
  const why = unread.find((line) => line.startsWith(`${target} `) || line.startsWith(`${target}: `));
  if (why !== undefined) throw usage(`${path} cannot be used. ${why}`);
}

function planOf(plan: () => ImportPlan): ImportPlan {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof RepositoryUnclearError)) throw error;
    throw usage('Cannot tell which domain the model belongs to: add --domain.', {
      cause: error,
    });
  }
}

/** Runs tasks on this thread, because nothing else in this process has to wait for them. */
export const ON_THIS_THREAD: Parameters<typeof describeFiles>[1] = {
  workers: {
    run: (kind, input) =>
      Promise.resolve(
        (repositoryTasks[kind] as (input: unknown) => unknown)(input) as Awaited<
          ReturnType<RepositoryTasks[typeof kind]>
        >,
      ),
  },
};
