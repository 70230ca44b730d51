import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { ApiClient } from '../client/client.js';
import type { Schemas } from '../client/operations.js';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { writeLines, writeJsonLine, writeStream, type CliContext } from './context.js';
import { diffLines, hasChanges } from './diff-view.js';
import { EXIT, type ExitCode, usage, failure } from './exit-codes.js';
import { formatCount, printable } from './format.js';
import { requireMembers } from './gateway-responses.js';
import { reportLines } from './import-view.js';
import { requireRedirected, writeDocument } from './output.js';
import { readUpload, type Upload } from './repository-folder.js';
import { candidatesOf } from './stored-candidates.js';
import {
  areAllAccepted,
  checkStored,
  requireStored,
  storedLines,
  type StoredOptions,
} from './stored-check.js';

export interface ImportCommandOptions {
  readonly domain?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export type DiffCommandOptions = Omit<ImportCommandOptions, 'dryRun'> & StoredOptions;

/** Imports folders, or one archive, into a gateway. */
export async function importModels(
  paths: readonly string[],
  options: ImportCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const { report } = await importPaths(paths, options, gateway, context);
  writeDocument(report, options, () => reportLines(report), context);
  const isDependentRefused = report.dependents.some(({ status }) => status === 'refused');
  return report.summary.refused > 0 || isDependentRefused ? EXIT.partial : EXIT.done;
}

/**
 * Shows what an import would change on a gateway, and writes nothing.
 *
 * @returns `partial` if the import would change anything, or new versions would refuse stored entities
 */
export async function diffModels(
  paths: readonly string[],
  options: DiffCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  requireStored(options);
  const { report, upload } = await importPaths(paths, { ...options, dryRun: true }, gateway, context);
  const stored =
    options.stored === true
      ? await checkStoredOfImport({ upload, report }, options, gateway, context)
      : undefined;
  const lines = () => [...diffLines(report), ...storedLines(stored ?? [])];
  writeDocument({ ...report, stored }, options, lines, context);
  return hasChanges(report) || !areAllAccepted(stored ?? []) ? EXIT.partial : EXIT.done;
}

/** Checks which stored entities the models changed by an import would refuse. */
export async function checkStoredOfImport(
  { upload, report }: Imported,
  options: StoredOptions & Pick<ImportCommandOptions, 'domain'>,
  gateway: ApiClient,
  context: CliContext,
) {
  const candidates = await candidatesOf(upload, report, options, gateway, context);
  return checkStored(candidates, options, gateway, context);
}

/** What was sent, and the gateway's report about it. */
interface Imported {
  readonly upload: Upload;
  readonly report: Schemas['ImportReport'];
}

async function importPaths(
  paths: readonly string[],
  options: ImportCommandOptions,
  gateway: ApiClient,
  { stderr }: CliContext,
): Promise<Imported> {
  const upload = await readUpload(paths);
  for (const line of upload.leftOut.values()) writeLines(stderr, printable(line));
  if (stderr.isTTY === true) writeLines(stderr, `Sending ${formatCount(upload.bytes.length)} bytes …`);
  return { upload, report: await sendImport(upload, options, gateway) };
}

/** Sends an import, or a dry run of one, to a gateway. */
export async function sendImport(
  { bytes, mediaType }: Upload,
  { domain, dryRun = false }: Pick<ImportCommandOptions, 'domain' | 'dryRun'>,
  gateway: ApiClient,
): Promise<Schemas['ImportReport']> {
  const query = { ...(dryRun ? { dryRun } : {}), domain };
  const headers = { 'content-type': mediaType };
  const report = await gateway.json('post', '/import', { query, body: bytes, headers });
  return requireMembers(report, 'the report of an import', {
    summary: 'object',
    files: 'array',
    dependents: 'array',
  });
}

export interface ExportCommandOptions {
  readonly domain?: string;
  readonly output?: string;
  readonly json?: boolean;
}

/** Exports the models of a gateway to a file, which appears only when it is complete. */
export async function exportModels(
  { domain, output, json }: ExportCommandOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const file = output ?? `${domain ?? 'models'}.tar.gz`;
  if (file === '-') requireRedirected(context, 'models.tar.gz');
  if (output === undefined && existsSync(file))
    throw usage(`${file} already exists: use -o to name a file, which is then replaced.`);
  const { body } = await gateway.request('get', '/export', { query: { domain }, headers: { accept: '*/*' } });
  if (body === null) throw failure('The gateway sent an empty response.');
  const archive = Readable.fromWeb(body as ReadableStream<Uint8Array>);
  if (file === '-') {
    await finish(file, () => writeStream(context, archive));
    return EXIT.done;
  }
  const partial = `${file}.partial`;
  await finish(file, async () => {
    try {
      await pipeline(archive, createWriteStream(partial));
      await rename(partial, file);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  });
  if (json === true) writeJsonLine(context, { file });
  else writeLines(context.stderr, `Wrote ${file}.`);
  return EXIT.done;
}

async function finish(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw failure(`The export could not be written to ${file}: ${why}.`, { cause });
  }
}
