/** Parses and vets the query string of a purge; refuses what is unknown, ambiguous or too wide. */
export { cutoffOf, olderThan } from './older-than.js';
export {
  type AcceptedParameters,
  ENTITY_PARAMETERS,
  type Parameter,
  type PurgeParameters,
  SELECTION_PARAMETERS,
  TEMPORAL_PARAMETERS,
  TIME_PARAMETERS,
  contextOfRequest,
  contextsOfLink,
  formatParameters,
  isAskable,
  itemsOf,
  namesOf,
  parseParameters,
  queryText,
  refusedData,
} from './parameters.js';
export { type PurgeQuery, type WholeTenant, vetSelection } from './selection.js';
