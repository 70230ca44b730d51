/**
 * The store as other rooms use it: its records, interfaces and errors. Importing this file loads no database driver;
 * databases.ts opens databases.
 */
export * from './errors.js';
export * from './job-records.js';
export type * from './policy-records.js';
export * from './records.js';
export type { RetentionPolicies, WritePolicies } from './sql-policies.js';
export type { Plans } from './sql-plans.js';
export type { FoundEntities, FoundEntity, ScanEntities } from './sql-scan-entities.js';
export type { Jobs } from './sql-jobs.js';
export type { SqlStore as Store } from './sql-store.js';
export { requireExpected, requireMatch, requireStorable } from './sql-routines.js';
export type * from './store.js';
