import type { JsonObject } from '../../shared/json/json.js';
import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { EntityReading, Reading } from '../../ngsi-ld/representation/read-entity.js';
import { consequencesOf } from './consequences.js';
import type { Explained } from './explain.js';
import { instanceFaults } from './instance-faults.js';
import type { EntityError } from './entity-error.js';
import type { Model } from './model.js';
import type { Spelling } from './spelling.js';
import { viewOf } from './view.js';

/** Errors by the schema that are kept of one entity: far more than are shown. */
const ERRORS_MAX = 2000;

const NONE: readonly EntityError[] = [];

/**
 * What the schema has against an entity, in its default instances and with each further instance of an attribute. What
 * only follows from faults of structure is left out.
 */
export function schemaErrors(
  entity: JsonObject,
  reading: Pick<EntityReading, 'readings' | 'faults' | 'leftOut'>,
  model: Model,
  spelling: Spelling,
): readonly EntityError[] {
  const [first, ...further] = reading.readings;
  const view = viewOf(entity, first, model, spelling);
  if (view.faults.length === 0 && further.length === 0 && reading.leftOut.length === 0) return NONE;
  const isConsequence = consequencesOf(reading.faults, entity);
  const found: EntityError[] = [];
  const add = ({ missing, keyword, say }: Explained, tokens: readonly string[]): void => {
    if (found.length < ERRORS_MAX && !isConsequence(tokens, missing)) found.push({ tokens, keyword, say });
  };
  const typeMember = view.hasOwnType ? typeMemberOf(entity) : undefined;
  for (const one of view.faults) {
    const [name, ...below] = one.tokens;
    const isType = typeMember !== undefined && name === 'type';
    add(one, isType ? [typeMember, ...below] : placeOf(one, first));
  }
  const { faults, leftOut } = instanceFaults(further, view, model, spelling);
  for (const { fault, reading: own, isAtInstance } of faults)
    add(fault, isAtInstance ? (own.instance ?? []) : placeOf(fault, own));
  const notRead = [...leftOut, ...reading.leftOut].slice(0, ERRORS_MAX);
  return [
    ...found,
    ...notRead.map(({ attribute, read }) => ({
      tokens: [attribute],
      keyword: 'maxItems',
      say: () => `has more instances than are checked, ${read}: split the entity`,
    })),
  ];
}

/** A member of the key-values form stands where its name does; its value may stand further within. */
function placeOf({ tokens, ofMember }: Explained, reading: Reading): readonly string[] {
  const name = tokens.at(-1);
  if (ofMember === undefined || name === undefined) return reading.locate(tokens);
  return [...reading.locate(tokens.slice(0, -1)), name];
}
