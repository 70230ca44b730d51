/** Checks writes on their way to the broker: which are checked, what is wrong with them, and whether they are passed on. */
export { type BatchError, mergeBatchResult } from './batch-result.js';
export { type CandidatePolicy, tenantsOf } from './candidates.js';
export type { RefusedEntity, WriteVerdict } from './decision.js';
export { type EntityLookup, EntityTypeCache } from './entity-type-cache.js';
export { Judge } from './judge.js';
export { ModelLoader } from './model-loader.js';
export { type CachedPolicies, PolicyCache } from './policy-cache.js';
export {
  failureReason,
  type WriteBody,
  WriteChecks,
  type WriteObserver,
  type WriteOutcome,
} from './write-checks.js';
export { WritePolicyService } from './write-policies.js';
