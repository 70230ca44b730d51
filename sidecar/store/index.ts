/**
 * The store as other rooms use it: its records, interfaces and errors. Importing this file loads no database driver;
 * databases.ts opens databases.
 */
export * from './errors.js';
export * from './job-records.js';
export type * from './policy-records.js';
export * from './records.js';
export type { Contexts } from './sql-contexts.js';
export type { Domains } from './sql-domains.js';
export type { Examples } from './sql-examples.js';
export type { Models } from './sql-models.js';
export type { RetentionPolicies, WritePolicies } from './sql-policies.js';
export type { Plans } from './sql-plans.js';
export type { FoundEntities, FoundEntity, ScanEntities } from './sql-scan-entities.js';
export type { Jobs } from './sql-jobs.js';
export type { PutReference, References } from './sql-references.js';
export type { SchemaStore, SqlStore as Store } from './sql-store.js';
export {
  type Expected,
  type IfMatch,
  requireExpected,
  requireMatch,
  requireStorable,
} from './sql-routines.js';
