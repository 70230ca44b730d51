import { member, objectOf, sameJson, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { Reading } from '../../ngsi-ld/representation/read-entity.js';
import type { Explained } from './explain.js';
import { explainSafely } from './explain-safely.js';
import type { Model } from './model.js';
import type { Spelling } from './spelling.js';

/** How the readings of an entity are shown to the schema, and what it has against the first of them. */
export interface View {
  readonly of: (reading: Reading) => JsonObject;
  /** What the schema has against the first reading. */
  readonly faults: readonly Explained[];
  /** Whether the type is shown as it was submitted. */
  readonly hasOwnType: boolean;
}

/**
 * Shows the schema the model's name as the type; where it refuses that and takes the type that was submitted, such as an
 * IRI or a list of types, it is shown that one.
 */
export function viewOf(entity: JsonObject, first: Reading, model: Model, spelling: Spelling): View {
  const plain = (reading: Reading) => withoutAny(reading.keyValues, model.unsaid);
  const shown = plain(first);
  const error = model.firstError(shown);
  if (error === undefined) return { of: plain, faults: [], hasOwnType: false };
  const faults = explainSafely(model, shown, error, spelling);
  const type = member(entity, typeMemberOf(entity));
  if (type === undefined || sameJson(type, member(shown, 'type')))
    return { of: plain, faults, hasOwnType: false };
  const submitted = (reading: Reading) => withType(plain(reading), type);
  const withOwn = submitted(first);
  const other = model.firstError(withOwn);
  if (other === undefined) return { of: submitted, faults: [], hasOwnType: true };
  const refused = ofType(faults);
  const otherFaults = refused === 0 ? faults : explainSafely(model, withOwn, other, spelling);
  return ofType(otherFaults) < refused
    ? { of: submitted, faults: otherFaults, hasOwnType: true }
    : { of: plain, faults, hasOwnType: false };
}

function ofType(faults: readonly Explained[]): number {
  return faults.filter(({ tokens }) => tokens[0] === 'type').length;
}

function withType(object: JsonObject, type: JsonValue): JsonObject {
  return objectOf(Object.entries(object).map((entry) => (entry[0] === 'type' ? ['type', type] : entry)));
}

/** The object itself where it has none of the members, as is usual. */
function withoutAny(object: JsonObject, members: ReadonlySet<string>): JsonObject {
  for (const name of members)
    if (Object.hasOwn(object, name))
      return objectOf(Object.entries(object).filter(([other]) => !members.has(other)));
  return object;
}
