import type { ModelKey, ModelSchema } from './service.js';
import type { CancelSignal } from '../../shared/cancel-signal.js';

/** Of any work. */
export interface WorkOptions {
  /** Aborts when the caller is gone: waiting work is dropped, work that has begun goes on within its deadline. */
  readonly signal?: CancelSignal | undefined;
}

/** The representation in which entities are submitted (ETSI GS CIM 009 V1.9.1, clause 4.5), or the normalized one of NGSIv2. */
export type EntityForm = 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2' | 'geojson';

export interface InferOptions extends WorkOptions {
  /** Name of the model that the schema is to be of. */
  readonly model?: string | undefined;
  /** What the samples are: plain objects, or entities; `ngsi-ld` stands for every representation that an entity shows. */
  readonly form: 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';
  /** Whether strings with few different values become enums. */
  readonly enumerates: boolean;
  /** False: what NGSI-LD forbids is taken as well as it can be read. True when not given. */
  readonly isStrict?: boolean | undefined;
}

export interface ValidateOptions extends WorkOptions {
  /** Of the model; the current one when not given. */
  readonly version?: number | undefined;
  /** The representation of the entity; detected from the entity when not given. */
  readonly form?: EntityForm | undefined;
  /** False: what NGSI-LD forbids and the schema does not is a warning. */
  readonly isStrict?: boolean | undefined;
}

export interface ValidateByTypeOptions extends Omit<ValidateOptions, 'version'> {
  /** Where the models are looked for; everywhere when not given. */
  readonly domain?: string | undefined;
}

export interface ProcessOptions extends WorkOptions {
  /** Where clients reach this service, without a trailing slash: contexts below it are its own. */
  readonly baseUrl: string;
}

/**
 * Work on documents that users submit. It runs in workers, within a deadline, and changes nothing.
 *
 * Each takes the text of a body and gives that of the answer, both JSON. Each can fail with UnreadableBodyError,
 * WorkbenchRefusedError, DeadlineExceededError, WorkersBusyError, TaskFailedError, the reason of the signal and, where
 * something stored is needed, StoreUnavailableError.
 */
export interface Workbench {
  /** A JSON Schema from one sample, or from an array of samples. */
  infer(text: string, options: InferOptions): Promise<string>;

  /** JSON-LD expansion of `{document, context?, safe?}`; the answer is `{result, warnings}`. */
  expand(text: string, options: ProcessOptions): Promise<string>;

  /** JSON-LD compaction; as `expand`. */
  compact(text: string, options: ProcessOptions): Promise<string>;

  /**
   * An entity, or an array of entities, against a model; the answer is `{valid, form, errors, warnings}`, or an array of these.
   *
   * @throws NotFoundError
   */
  validate(key: ModelKey, text: string, options: ValidateOptions): Promise<string>;

  /**
   * The same against the newest versions of the models of the entities' types, each of those that are known; the answer has
   * `models`, `domain/model` of each.
   *
   * @throws WorkbenchRefusedError: `notFound` when an entity has no known type, `typeAmbiguous` when a type is that of
   *   several models
   */
  validateByType(text: string, options: ValidateByTypeOptions): Promise<string>;

  /** As `validate`, against a schema that the model may not have yet. */
  validateAgainst(
    schema: ModelSchema,
    key: ModelKey,
    text: string,
    options: Omit<ValidateOptions, 'version'>,
  ): Promise<string>;
}
