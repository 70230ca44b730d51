import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import type { Transfer } from '../schemas/repository/transfer.js';
import { checkLines, type CheckOptions, failsCheck } from './check-view.js';
import { writeLines, type CliContext } from './context.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';
import { printable } from './format.js';
import { importLocally, type LocalImportOptions } from './local-import.js';
import { sendImport, checkStoredOfImport } from './models-commands.js';
import { readUpload, type Upload } from './repository-folder.js';
import { filesAt } from './revision-files.js';
import { areAllAccepted, requireStored } from './stored-check.js';

/**
 * Checks folders of data models: whether the schemas compile, the examples are valid and, compared with a revision or a
 * gateway, the changes are harmless. Changes no models; without a gateway, sends nothing.
 */
export async function checkModels(
  paths: readonly string[],
  options: CheckOptions,
  gateway: ApiClient | undefined,
  context: CliContext,
): Promise<ExitCode> {
  const { against, domain, failOn = 'breaking' } = options;
  requireStored(options);
  if (gateway !== undefined && against !== undefined) throw usage('Use either --against or --gateway.');
  if (gateway === undefined && options.stored === true)
    throw usage('--stored needs a gateway to read the entities from: add --gateway.');
  const upload = await readUpload(paths);
  const {
    report,
    gone = [],
    uncompared = [],
  }: CheckResult = gateway === undefined
    ? await checkLocally(upload, paths, options, context)
    : { report: await sendImport(upload, { dryRun: true, ...(domain && { domain }) }, gateway) };
  const stored =
    options.stored === true && gateway !== undefined
      ? await checkStoredOfImport({ upload, report }, options, gateway, context)
      : undefined;
  const isCompared = failOn === 'never' || uncompared.length === 0;
  // A check of the wrong folder must not pass.
  const isAnythingChecked = report.files.length + gone.length > 0;
  const verdict =
    isAnythingChecked && verdictOf(report, upload, failOn) && isCompared && areAllAccepted(stored ?? []);
  const format = options.json === true ? 'json' : (options.format ?? 'text');
  const leftOut = [...upload.leftOut.values()];
  const view = { ...upload, leftOut, format, failOn, gone, uncompared, stored };
  writeLines(context.stdout, ...checkLines(report, view));
  return verdict ? EXIT.done : EXIT.partial;
}

/** Whether the report shows nothing that fails the check. */
function verdictOf(
  { summary, files, dependents }: Schemas['ImportReport'],
  { leftOut }: Upload,
  failOn: NonNullable<CheckOptions['failOn']>,
): boolean {
  const changes = [...files, ...dependents].flatMap(({ change }) => change ?? []);
  return (
    summary.refused === 0 &&
    summary.examples.invalid === 0 &&
    files.every(({ examples }) => examples?.unchecked === undefined) &&
    leftOut.size === 0 &&
    dependents.every(({ status }) => status !== 'refused') &&
    !changes.some((change) => failsCheck(change, failOn))
  );
}

interface CheckResult {
  readonly report: Schemas['ImportReport'];
  /** Models that exist in the revision but not in the folders. */
  readonly gone?: readonly string[];
  /** Paths of files that count as new because they cannot be compared with those of the revision. */
  readonly uncompared?: readonly string[];
}

/** Checks in a separate schema service in memory. Imports the revision first, so that the folders are compared with it. */
async function checkLocally(
  upload: Upload,
  paths: readonly string[],
  { against, ...options }: CheckOptions,
  context: CliContext,
): Promise<CheckResult> {
  const models = await context.openModels();
  const { transfer } = models;
  try {
    let { domain } = options;
    let old: CheckResult['report'] | undefined;
    if (against !== undefined) {
      // The revision may name a different domain. Its models would then not be compared with those of the folders.
      domain ??= onlyDomainOf(await importArchives(transfer, [upload.bytes], { dryRun: true }));
      const [folder = '.', ...others] = paths;
      const archives = [await filesAt(against, folder, context.env)];
      if (others.length > 0) archives.push((await readUpload(others)).bytes);
      old = await importArchives(transfer, archives, { domain });
      for (const { path, status, reason = '' } of old.files)
        if (status === 'refused') writeLines(context.stderr, printable(`At ${against}, ${path}: ${reason}`));
    }
    const imported = await importArchives(transfer, [upload.bytes], { domain });
    // The import only wrote to memory, so the report calls it a dry run.
    const report = { ...imported, summary: { ...imported.summary, dryRun: true } };
    if (old === undefined) return { report };
    return { report, gone: goneSince(old, report, upload), uncompared: uncomparedFiles(old, report) };
  } finally {
    await models.close();
  }
}

/** Models that exist in the revision but not in the folders, except those that may be in a file that is refused or left out. */
function goneSince(
  old: CheckResult['report'],
  { files }: CheckResult['report'],
  { leftOut }: Upload,
): readonly string[] {
  const models = new Set(files.map(({ model }) => model));
  const unread = [...pathsOf(files, (file) => file.status === 'refused'), ...leftOut.keys()];
  return old.files.flatMap(({ path, model, status }) => {
    if (model === undefined || status === 'refused' || models.has(model)) return [];
    return unread.some((one) => path === one || path.startsWith(`${one}/`)) ? [] : [model];
  });
}

/**
 * Paths of new files that also exist in the revision, but cannot be compared: they could not be read there, or were
 * refused because of another file, such as their context. A model that was not valid itself counts as new.
 */
function uncomparedFiles(old: CheckResult['report'], { files }: CheckResult['report']): readonly string[] {
  const unread = new Set(
    pathsOf(old.files, ({ status, model, context, url, line }) => {
      const isItself =
        context !== undefined || url !== undefined || (model !== undefined && line !== undefined);
      return status === 'refused' && !isItself;
    }),
  );
  return [...new Set(pathsOf(files, ({ path, status }) => status === 'created' && unread.has(path)))];
}

type CheckedFile = CheckResult['report']['files'][number];

function pathsOf(files: readonly CheckedFile[], isWanted: (file: CheckedFile) => boolean): readonly string[] {
  return files.filter(isWanted).map(({ path }) => path);
}

function importArchives(
  transfer: Transfer,
  archives: readonly Uint8Array<ArrayBuffer>[],
  options: LocalImportOptions,
): Promise<Schemas['ImportReport']> {
  const parts = archives.map((bytes) => ({ name: 'archive', bytes: bufferOf(bytes) }));
  return importLocally(transfer, parts, options);
}

/** The domain that all models of a report share; undefined if they are in several, such as those of several repositories. */
function onlyDomainOf({ files }: Schemas['ImportReport']): string | undefined {
  const domains = new Set(files.flatMap(({ model }) => model?.split('/', 1) ?? []));
  return domains.size === 1 ? [...domains][0] : undefined;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
