import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import {
  RepositoryCollector,
  type RefusedFile,
  type Repository,
  type RepositoryFile,
  type RepositoryLimits,
} from './collector.js';
import type { DescribedFile, ImportPlan } from './import-plan.js';
import { isUrl } from './file-paths.js';
import { RepositoryTooLargeError, RepositoryUnclearError } from './errors.js';
import { readTarGz } from './tar.js';
import type { PlanInput, RepositoryTasks } from './tasks.js';
import { readZip } from './zip.js';
import { UnreadableBodyError } from '../models/index.js';
import { InvalidBodyError } from '../../shared/errors.js';
import { unlessTooCostly } from '../../shared/workers/errors.js';
import { yieldToEventLoop } from '../../shared/event-loop.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { ImportSource } from './shapes.js';

/** The limits of a repository, and the workers that read it. */
export interface ReadOptions {
  readonly limits: RepositoryLimits;
  readonly workers: TaskRunner<RepositoryTasks>;
  /** Deadline of one task, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The deadline of a task on a whole repository, as a multiple of the normal one. */
const WHOLE_DEADLINES = 10;

/**
 * Reads what was sent, within limits, without interpreting it.
 *
 * @throws ArchiveUnreadableError, RepositoryTooLargeError, InvalidBodyError, UnreadableBodyError, errors of the
 * workers, or the reason of the signal
 */
export async function readSource(source: ImportSource, reading: ReadOptions): Promise<Repository> {
  const collector = new RepositoryCollector(reading.limits);
  const readArchive = { gzip: readTarGz, zip: readZip };
  if (source.kind === 'documents') await readDocuments(source.text, collector, reading);
  else if (source.kind !== 'parts') await readArchive[source.kind](source.bytes, collector, reading.signal);
  else
    for (const { name, bytes } of source.parts) {
      const kind = archiveKind(bytes);
      if (kind === undefined) take(name, bytes, collector);
      else await readArchive[kind](bytes, collector, reading.signal);
    }
  return collector.result();
}

/** Detects an archive by its first bytes: gzip (RFC 1952 § 2.3.1), or zip (APPNOTE 4.3). */
export function archiveKind(bytes: Uint8Array): 'gzip' | 'zip' | undefined {
  const [first, second, third, fourth] = bytes;
  if (first === 0x1f && second === 0x8b) return 'gzip';
  // The signature of the first file, or of the end for a zip without files.
  const isZip =
    first === 0x50 && second === 0x4b && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6));
  return isZip ? 'zip' : undefined;
}

async function readDocuments(
  text: string,
  collector: RepositoryCollector,
  reading: ReadOptions,
): Promise<void> {
  const sent = await runRepositoryTask(
    reading.workers.run('splitDocuments', text, repositoryTaskOptions(reading)),
  );
  if ('unreadable' in sent) throw new UnreadableBodyError(sent.unreadable);
  if ('fault' in sent) {
    const { pointer, fault } = sent;
    const message = `The body is invalid: ${pointer === '' ? 'it' : pointer} ${fault}.`;
    throw new InvalidBodyError(message, pointer, fault);
  }
  for (const { path, text } of sent.documents) take(path, Buffer.from(text), collector);
}

/**
 * Plans what to do with the files.
 *
 * @throws RepositoryUnclearError, RepositoryTooLargeError, errors of the workers, or the reason of the signal
 */
export async function planOf(input: PlanInput, reading: ReadOptions): Promise<ImportPlan> {
  const plan = await runRepositoryTask(
    reading.workers.run('planImport', input, repositoryTaskOptions(reading)),
  );
  if ('unclear' in plan) throw new RepositoryUnclearError(plan.unclear);
  return plan;
}

function repositoryTaskOptions({ deadlineMs, signal }: ReadOptions) {
  return { deadlineMs: WHOLE_DEADLINES * deadlineMs, ...(signal === undefined ? {} : { signal }) };
}

function runRepositoryTask<Result>(work: Promise<Result>): Promise<Result> {
  return unlessTooCostly(work, (cause) => {
    const message = `Reading the whole import takes too much ${cause.bound}: import it in parts.`;
    throw new RepositoryTooLargeError(message, { cause });
  });
}

function take(name: string, bytes: Buffer, collector: RepositoryCollector): void {
  collector.count(bytes.length);
  const path = isUrl(name) ? collector.enterUrl(name) : collector.enter(name, 'file', bytes.length);
  if (path !== undefined) collector.keep(path, bytes);
}

/** The files that can be read, classified, and those that cannot. */
export interface DescribedFiles {
  readonly described: readonly DescribedFile[];
  readonly refused: readonly RefusedFile[];
}

/** Number of files that are described at the same time. */
const AT_ONCE = 8;

/**
 * Maximum number of names of other documents in all files, because the event loop sends them to a worker in one
 * message.
 */
const MAX_NAMES = 200_000;

/**
 * Has every file read by a worker. Both lists are in the order of the files.
 *
 * @throws RepositoryTooLargeError, errors of the workers, or the reason of the signal
 */
export async function describeFiles(
  files: readonly RepositoryFile[],
  { workers, signal }: Pick<ReadOptions, 'workers' | 'signal'>,
): Promise<DescribedFiles> {
  const described: DescribedFile[] = [];
  const refused: RefusedFile[] = [];
  let names = 0;
  for (let at = 0; at < files.length; at += AT_ONCE) {
    signal?.throwIfAborted();
    await yieldToEventLoop();
    const read = await Promise.all(files.slice(at, at + AT_ONCE).map((file) => describe(file, workers)));
    for (const one of read)
      if ('facts' in one) {
        described.push(one);
        names += namesIn(one.facts);
      } else refused.push(one);
    if (names > MAX_NAMES)
      throw new RepositoryTooLargeError(
        `It refers to other documents more than ${MAX_NAMES} times: import it in parts.`,
      );
  }
  return { described, refused };
}

function namesIn({ references, contexts, innerIds, urls = [] }: DescribedFile['facts']): number {
  const within = [...references, ...innerIds].reduce((sum, named) => sum + named.within.length, 0);
  return within + references.length + innerIds.length + contexts.length + urls.length;
}

async function describe(
  { path, bytes }: RepositoryFile,
  workers: ReadOptions['workers'],
): Promise<DescribedFile | RefusedFile> {
  if (!isUtf8(bytes)) return { path, reason: 'It is not valid UTF-8.', line: lineOfFault(bytes) };
  const text = textOf(bytes);
  if (text.startsWith(LFS_POINTER))
    return {
      path,
      reason: 'It is a Git LFS pointer, not the file: run "git lfs pull" before the import.',
    };
  const description = await unlessTooCostly(workers.run('describeDocument', text), ({ bound }) => ({
    reason: `Reading it takes too much ${bound}.`,
  }));
  if ('reason' in description) return { path, ...description };
  if ('unreadable' in description) {
    const { line, column, detail } = description.unreadable;
    const reason = `It cannot be read as JSON: line ${line}, column ${column}: ${detail}.`;
    return { path, reason, line };
  }
  const sha256 = hash('sha256', bytes);
  return { path, sha256, facts: description.facts };
}

/**
 * The beginning of the pointer that replaces a file in git if Git LFS stores it, including in the archives of code
 * hosts.
 */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Returns the line of the first byte that is not UTF-8. */
function lineOfFault(bytes: Uint8Array): number {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return line;
    line += 1;
    start = end + 1;
  }
  return line;
}

/** Returns the text of a UTF-8 file, without the byte order mark that some editors put before it. */
export function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
