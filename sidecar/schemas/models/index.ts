/**
 * The public interface of this folder: a service that stores models with their domains, contexts and documents, and a
 * workbench that applies them.
 */
export { SchemaService, type SchemaServiceOptions } from './schema-service.js';
export { Workbench, type WorkbenchParts } from './workbench.js';
export type { ValidateOptions } from './workbench.js';

export { findingKey, type JudgedFinding } from '../validation/judged.js';
export { type ScanJudge, EntityJudge, type PageVerdict } from './entity-judge.js';
export { allItems, mapInBatches, undefinedIfNotFound, undefinedIfGone } from './concurrency.js';
export type { ServedDocument } from './content-store.js';
export { contextUrl, INTERNAL_BASE, type NamedContext, namedContext } from './content-store.js';
export type { ChangedFollower } from './context-followers.js';
export type { ContextSummary, WrittenContext } from './contexts.js';
export type { ModelDocumentKind } from './model-documents.js';
export { type ModelFile, referenceFileName } from './model-documents.js';
export { type Lifecycle, parseModelName, type ModelSchema } from './model-schemas.js';
export type { ModelChange } from './model-settings.js';
export type { ModelOutcome, ModelWrite } from './model-writer.js';
export {
  EXAMPLE_NAME_PATTERN,
  EXAMPLE_NAME_RULE,
  isExampleName,
  isStrictExample,
  MAX_EXAMPLE_BYTES,
} from './example-names.js';
export { metadataOf } from './model-settings.js';
export { DeadlineExceededError, UnreadableBodyError, WorkbenchRefusedError } from './workbench-errors.js';
