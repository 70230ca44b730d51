import type { Readable } from 'node:stream';
import type { Clock } from '../../shared/clock.js';
import { GatewayError } from '../../shared/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import { limitsOf } from './collector.js';
import type { RepositoryTasks } from './tasks.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { PutReference } from '../../store/index.js';
import type { SchemaService, Workbench } from '../models/index.js';
import { type DependentsOptions, updateDependents } from './dependents.js';
import { exportAll } from './export.js';
import { ImportRun } from './import-run.js';
import type { ImportOptions, ImportReport, ImportSource, UpdatedDependent } from './shapes.js';
import { describeFiles, planOf, readSource } from './source.js';

export type * from './shapes.js';

export interface TransferParts {
  readonly schemas: SchemaService;
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
  readonly workers: TaskRunner<RepositoryTasks>;
  readonly clock: Clock;
  /** Deadline of one worker task, in milliseconds. */
  readonly deadlineMs: number;
  /** The setting IMPORT_LIMIT_BYTES. */
  readonly limitBytes: number;
}

/** Another import is running. Because an import takes much memory, only one runs at a time. */
export class ImportRunningError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '5';

  constructor() {
    super('Another import is running here: try again when it has finished.');
  }
}

/** Imports whole repositories of data models into the schema service, and exports them. */
export class Transfer {
  #isRunning = false;

  constructor(private readonly parts: TransferParts) {}

  /**
   * Stores the models of a repository, their shared documents and their contexts; the report lists what is refused.
   * Importing the same content again changes nothing.
   *
   * @throws ImportRunningError, ArchiveUnreadableError, RepositoryTooLargeError, RepositoryUnclearError,
   * UnreadableBodyError, InvalidBodyError, errors of the workers, StoreUnavailableError, or the reason of the signal
   */
  async import(source: ImportSource, options: ImportOptions): Promise<ImportReport> {
    if (this.#isRunning) throw new ImportRunningError();
    this.#isRunning = true;
    const { schemas, workbench, workers, deadlineMs, limitBytes } = this.parts;
    const { domain, dryRun, signal } = options;
    try {
      const reading = { limits: limitsOf(limitBytes), workers, deadlineMs, signal };
      const repository = await readSource(source, reading);
      const { described, refused } = await describeFiles(repository.files, reading);
      const unread = [...repository.refused, ...refused];
      const idle = unread.filter(({ onlyIfUsed }) => onlyIfUsed);
      const plan = await planOf({ files: described, domain, unread: idle }, reading);
      const parts = { schemas: dryRun ? schemas.forDryRun() : schemas, workbench };
      const always = unread.filter(({ onlyIfUsed }) => !onlyIfUsed);
      return await new ImportRun(parts, options, repository, plan).run(always, repository.ignored);
    } finally {
      this.#isRunning = false;
    }
  }

  /**
   * Exports to a `.tar.gz` that `import` accepts, created while it is being read. Equal content results in equal bytes.
   *
   * @param domain all domains by default
   * @throws NotFoundError
   */
  export(domain: string | undefined, baseUrl: string): Promise<Readable> {
    return exportAll(this.parts, domain, baseUrl);
  }

  /** Stores a shared document, and updates the models that were created with it to its current state. */
  async putReference(
    uri: string,
    document: JsonValue,
    {
      expected,
      ...options
    }: Omit<DependentsOptions, 'except'> & {
      readonly expected?: Parameters<SchemaService['references']['put']>[2];
    },
  ): Promise<PutReference & { readonly dependents: readonly UpdatedDependent[] }> {
    const { schemas } = this.parts;
    const on = options.dryRun ? schemas.forDryRun() : schemas;
    const put = await on.references.put(uri, document, expected);
    const dependents = await updateDependents([put.reference.uri], on, options);
    return { ...put, dependents };
  }
}
