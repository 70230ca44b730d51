import type { JsonValue } from '../../shared/json/json.js';
import type { ModelAt } from '../store/records.js';
import type { ModelDetails } from './shapes.js';
import { summaryOf, warningsOf } from './version-metadata.js';

/** A model at its current version, with that version's schema. */
export function detailsOf({ model, version }: ModelAt, schema: JsonValue): ModelDetails {
  return { ...model, version: summaryOf(version), schema, warnings: warningsOf(version) };
}
