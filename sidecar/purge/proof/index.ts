/** Proves that the broker reads a query, its tenant, its @context and the path of an entity as the gateway does. */
export { attributePath, entityPath, noSafePath, safePathOf } from './entity-path.js';
export { LAST, NO_SUCH } from './impossible-text.js';
export { type Impossible, impossibleSelections } from './probes.js';
export { LOCAL, QueryProof, learnCounting, learnStride, proofNameOf } from './query-proof.js';
