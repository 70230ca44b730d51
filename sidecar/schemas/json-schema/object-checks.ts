import {
  passes,
  placedAt,
  type CheckContext,
  type Finding,
  type KeywordChecks,
  type Prover,
} from './checks.js';
import { hasPatterns } from './facts.js';
import {
  alternativesIn,
  conjunctsOf,
  eachSchemaIn,
  namedSchemasIn,
  namesByName,
  schemaIn,
} from './flat-graph.js';
import { isObject, isSchema, member, type Schema, stringsOf } from '../../shared/json/json.js';

const OBJECTS = ['object'] as const;

/** Validators still honour `dependencies`, the older form. */
const DEPENDENT_SCHEMAS = ['dependentSchemas', 'dependencies'];
const DEPENDENT_NAMES = ['dependentRequired', 'dependencies'];

/** Checks of the keywords on objects. */
export const OBJECT_CHECKS: KeywordChecks = {
  minProperties: passes(
    (value, { facts }) => Math.max(facts.limit('min', 'Properties'), facts.required.size) >= Number(value),
    OBJECTS,
  ),
  maxProperties: passes((value, { facts }) => facts.limit('max', 'Properties') <= Number(value), OBJECTS),
  required: {
    types: OBJECTS,
    check: (value, context) =>
      stringsOf(value)
        .filter((name) => !context.facts.required.has(name))
        .map((name) => requiredFinding(name, context)),
  },
  properties: {
    types: OBJECTS,
    check: (_, context) =>
      [...namedSchemasIn(context.schema, 'properties')].flatMap(([name, schema]) =>
        placedAt(context, [name], propertyFindings(name, schema, context)),
      ),
  },
  patternProperties: {
    types: OBJECTS,
    check: (_, context) =>
      [...namedSchemasIn(context.schema, 'patternProperties')].flatMap(([pattern, schema]) => {
        const known = context.facts.atoms.flatMap((atom) => {
          const same = namedSchemasIn(atom, 'patternProperties').get(pattern);
          return same === undefined ? [] : [same];
        });
        return placedAt(
          context,
          [pattern],
          context.prover.findingsWithin({ pattern }, known, schema, 'prove'),
        );
      }),
  },
  additionalProperties: {
    types: OBJECTS,
    check: (value, context) => (isSchema(value) ? additionalFindings(value, context) : []),
  },
  propertyNames: passes(
    (value, { facts, prover }) =>
      !isSchema(value) ||
      prover.implies([{ type: 'string' }, ...eachSchemaIn(facts.atoms, 'propertyNames')], value),
    OBJECTS,
  ),
  dependentRequired: passes((_, context) => areNamesImplied('dependentRequired', context), OBJECTS),
  dependentSchemas: passes((_, context) => areSchemasImplied('dependentSchemas', context), OBJECTS),
  dependencies: passes(
    (_, context) => areNamesImplied('dependencies', context) && areSchemasImplied('dependencies', context),
    OBJECTS,
  ),
};

/**
 * An object without the property was valid. Where nothing described the property no object is known to have it, and
 * where it was forbidden none has.
 */
function requiredFinding(name: string, { facts, schema, keyword, prover }: CheckContext): Finding {
  const isUnheardOf = !isMentioned(name, facts.schemas, prover) || prover.facts(facts.property(name)).isEmpty;
  const kind = isUnheardOf ? 'breaking' : 'narrowing';
  return { schema, tokens: [keyword], kind, subject: 'required', value: name };
}

function propertyFindings(name: string, schema: Schema, context: CheckContext): readonly Finding[] {
  const { facts, prover, mode } = context;
  const isNew = mode === 'report' && !isMentioned(name, facts.schemas, prover);
  if (isNew && !prover.facts([...facts.property(name), schema]).isEmpty)
    return [{ schema: undefined, tokens: [], kind: 'compatible', subject: 'property', value: name }];
  return prover.findingsWithin(name, facts.property(name), schema, mode);
}

/** Conditions on the properties that a schema itself does not describe. */
function additionalFindings(value: Schema, context: CheckContext): readonly Finding[] {
  const { facts, schema, keyword, prover } = context;
  const own = namedSchemasIn(schema, 'properties');
  const patterns = new Set(namedSchemasIn(schema, 'patternProperties').keys());
  const lost = [...facts.described]
    .filter((name) => !own.has(name))
    .filter((name) => !prover.implies(facts.property(name), value))
    .map((name): Finding => {
      const isRefused = patterns.size === 0 && prover.facts([...facts.property(name), value]).isEmpty;
      const kind = isRefused ? 'breaking' : 'narrowing';
      return { schema, tokens: [keyword], kind, subject: 'forbidden', value: name };
    });
  const others = prover.findingsWithin(null, facts.otherProperties(patterns), value, 'prove');
  return [
    ...lost,
    ...placedAt(context, [], others).map((finding) => ({ ...finding, kind: 'narrowing' as const })),
  ];
}

function areNamesImplied(keyword: string, { facts, schema, prover }: CheckContext): boolean {
  return [...namesByName(schema, keyword)].every(([name, needed]) => {
    const known = facts.atoms.flatMap((atom) =>
      DEPENDENT_NAMES.flatMap((other) => namesByName(atom, other).get(name) ?? []),
    );
    const isPresent = (other: string) => facts.required.has(other) || known.includes(other) || other === name;
    return needed.every(isPresent) || prover.facts(facts.property(name)).isEmpty;
  });
}

function areSchemasImplied(keyword: string, { facts, schema, prover }: CheckContext): boolean {
  return [...namedSchemasIn(schema, keyword)].every(([name, needed]) => {
    const known = facts.atoms
      .flatMap((atom) => DEPENDENT_SCHEMAS.map((other) => namedSchemasIn(atom, other).get(name)))
      .filter((schema) => schema !== undefined);
    return prover.implies([...facts.schemas, ...known, { required: [name] }], needed);
  });
}

/** Whether any part of the schemas, under any condition, applies to a property of that name; what is assumed does not count. */
function isMentioned(name: string, schemas: readonly Schema[], { targets, assumed }: Prover): boolean {
  const seen = new Set<Schema>();
  const open: Schema[] = schemas.filter((schema) => schema !== assumed);
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    for (const atom of conjunctsOf([schema], targets).filter(isObject)) {
      if (seen.has(atom)) continue;
      seen.add(atom);
      const rest = [schemaIn(atom, 'additionalProperties'), schemaIn(atom, 'unevaluatedProperties')];
      if (hasPatterns(atom) || rest.some((held) => held !== undefined && held !== false)) return true;
      if (namedSchemasIn(atom, 'properties').has(name)) return true;
      if (stringsOf(member(atom, 'required')).includes(name)) return true;
      open.push(...alternativesIn(atom));
    }
  }
  return false;
}
