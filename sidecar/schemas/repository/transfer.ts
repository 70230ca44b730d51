import type { Readable } from 'node:stream';
import type { Clock } from '../../shared/clock.js';
import { GatewayError } from '../../shared/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import { limitsOf } from './collector.js';
import type { RepositoryTasks } from './tasks.js';
import type { JsonValue, PutReference, SchemaService } from '../models/service.js';
import type { Workbench } from '../models/workbench.js';
import { type DependentsOptions, updateDependents } from './dependents.js';
import { exportAll } from './export.js';
import { ImportRun } from './import-run.js';
import type { ImportOptions, ImportReport, ImportSource, UpdatedDependent } from './shapes.js';
import { describeFiles, planOf, readSource } from './source.js';

export type * from './shapes.js';

/** Whole repositories of data models, into the schema service and out of it. */
export interface Transfer {
  /**
   * Stores the models of a repository, the documents that they share, and their contexts; what is refused is in the report. The
   * same again changes nothing.
   *
   * @throws ImportRunningError, ArchiveUnreadableError, RepositoryTooLargeError, RepositoryUnclearError, InvalidBodyError,
   *   UnreadableBodyError, errors of the workers, StoreUnavailableError, or the reason of the signal
   */
  import(source: ImportSource, options: ImportOptions): Promise<ImportReport>;

  /**
   * A `.tar.gz` that `import` takes, made as it is read; the same for the same content.
   *
   * @param domain all of them where it is left out
   * @throws NotFoundError
   */
  export(domain: string | undefined, baseUrl: string): Promise<Readable>;

  /** Stores a shared document, and gives the models that were made with it a version with it as it is now. */
  putReference(
    uri: string,
    document: JsonValue,
    options: Omit<DependentsOptions, 'except'> & { readonly expected?: Expected },
  ): Promise<PutReference & { readonly dependents: readonly UpdatedDependent[] }>;
}

type Expected = Parameters<SchemaService['references']['put']>[2];

export interface TransferParts {
  readonly schemas: SchemaService;
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
  readonly workers: TaskRunner<RepositoryTasks>;
  readonly clock: Clock;
  /** Of one task of a worker, in milliseconds. */
  readonly deadlineMs: number;
  /** IMPORT_LIMIT_BYTES. */
  readonly limitBytes: number;
}

/** An import is under way; it takes much memory, so that there is one at a time. */
export class ImportRunningError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '5';

  constructor() {
    super('Another import is under way here: try again when it is done.');
  }
}

export function createTransfer({
  schemas,
  workbench,
  workers,
  clock,
  deadlineMs,
  limitBytes,
}: TransferParts): Transfer {
  let isRunning = false;

  async function importFrom(source: ImportSource, options: ImportOptions): Promise<ImportReport> {
    const { domain, dryRun, signal } = options;
    const reading = { limits: limitsOf(limitBytes), workers, deadlineMs, signal };
    const repository = await readSource(source, reading);
    const { described, refused } = await describeFiles(repository.files, reading);
    const unread = [...repository.refused, ...refused];
    const idle = unread.filter(({ onlyIfUsed }) => onlyIfUsed);
    const plan = await planOf({ files: described, domain, unread: idle }, reading);
    const parts = { schemas: dryRun ? schemas.trial() : schemas, workbench, clock, deadlineMs };
    const run = new ImportRun(parts, options, repository, plan);
    const always = unread.filter(({ onlyIfUsed }) => !onlyIfUsed);
    return run.run(always, repository.ignored);
  }

  return {
    async import(source, options) {
      if (isRunning) throw new ImportRunningError();
      isRunning = true;
      try {
        return await importFrom(source, options);
      } finally {
        isRunning = false;
      }
    },
    export: (domain, baseUrl) => exportAll(schemas, domain, baseUrl),
    async putReference(uri, document, { expected, ...options }) {
      const on = options.dryRun ? schemas.trial() : schemas;
      const put = await on.references.put(uri, document, expected);
      const dependents = await updateDependents([put.reference.uri], on, options);
      return { ...put, dependents };
    },
  };
}
