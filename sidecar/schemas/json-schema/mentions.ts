import { type JsonObject, member, type Schema, stringsOf } from '../../shared/json/json.js';
import type { Prover, PathStep } from './checks.js';
import { isMatch } from './closures.js';
import { eachSchemaIn, namedSchemaIn, namedSchemasIn, schemaIn, schemasIn, atomsWithin } from './flatten.js';
import type { SchemaClasses } from './schema-classes.js';

/**
 * Whether any part of the schemas, under any condition, applies to a property of that name. The assumed schema does
 * not count.
 *
 * Must run in a worker: patterns are executed.
 */
export function isMentioned(
  name: string,
  schemas: readonly Schema[],
  { targets, classes, assumed }: Prover,
): boolean {
  const stated = schemas.filter((schema) => schema !== assumed);
  return atomsWithin(stated, targets).some((atom) => mentions(atom, name, classes));
}

/** As {@link isMentioned}, for the object within the value that the steps lead to. */
export function isMentionedAt(
  steps: readonly PathStep[],
  name: string,
  schemas: readonly Schema[],
  prover: Prover,
): boolean {
  const { targets } = prover;
  let held = schemas;
  for (const step of steps) held = atomsWithin(held, targets).flatMap((atom) => heldAt(atom, step));
  return isMentioned(name, held, prover);
}

/** The subschemas of a schema for the values that a step leads to. If it is unclear which of them apply, all that may. */
function heldAt(atom: JsonObject, step: PathStep): readonly Schema[] {
  const patterns = [...namedSchemasIn(atom, 'patternProperties')];
  if (typeof step === 'number')
    return [
      ...(step === Infinity
        ? schemasIn(atom, 'prefixItems')
        : schemasIn(atom, 'prefixItems').slice(step, step + 1)),
      ...['items', 'unevaluatedItems', 'contains'].flatMap((keyword) => eachSchemaIn([atom], keyword)),
    ];
  const own = [...namedSchemasIn(atom, 'properties')].filter(
    ([name]) => typeof step !== 'string' || name === step,
  );
  const matching = patterns.filter(([pattern]) => typeof step !== 'string' || isMatch(pattern, step));
  return [
    ...[...own, ...matching].map(([, held]) => held),
    ...['additionalProperties', 'unevaluatedProperties'].flatMap((keyword) => eachSchemaIn([atom], keyword)),
  ];
}

function mentions(atom: JsonObject, name: string, classes: SchemaClasses): boolean {
  const rest = [schemaIn(atom, 'additionalProperties'), schemaIn(atom, 'unevaluatedProperties')];
  // A schema that accepts everything says nothing about the name, and `false` allows no use of it.
  if (rest.some((held) => held !== undefined && held !== false && !classes.isTrue(held))) return true;
  const patterns = [...namedSchemasIn(atom, 'patternProperties').keys()];
  return (
    patterns.some((pattern) => isMatch(pattern, name)) ||
    namedSchemaIn(atom, 'properties', name) !== undefined ||
    stringsOf(member(atom, 'required')).includes(name)
  );
}
