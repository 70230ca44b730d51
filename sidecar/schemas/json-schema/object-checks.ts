import {
  atMostNarrowing,
  type CheckContext,
  type Finding,
  findEach,
  keywordFinding,
  type KeywordChecks,
  passes,
  placedAt,
} from './checks.js';
import { isMatch } from './closures.js';
import { closingFindings, namesIn } from './closing-checks.js';
import { eachSchemaIn, namedSchemaIn, namedSchemasIn, namesByName } from './flat-graph.js';
import { isMentioned } from './mentions.js';
import { isSchema, type Schema, stringsOf } from '../../shared/json/json.js';

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
      findEach(namedSchemasIn(context.schema, 'properties'), context.mode, ([name, schema]) =>
        placedAt(context, [name], propertyFindings(name, schema, context)),
      ),
  },
  patternProperties: {
    types: OBJECTS,
    check: (_, context) =>
      findEach(namedSchemasIn(context.schema, 'patternProperties'), context.mode, ([pattern, schema]) =>
        placedAt(context, [pattern], patternFindings(pattern, schema, context)),
      ),
  },
  additionalProperties: {
    types: OBJECTS,
    check: (_, context) => closingFindings('additionalProperties', context),
  },
  unevaluatedProperties: {
    types: OBJECTS,
    check: (_, context) => closingFindings('unevaluatedProperties', context),
  },
  propertyNames: passes(
    (value, { facts, prover }) =>
      !isSchema(value) ||
      prover.implies([{ type: 'string' }, ...eachSchemaIn(facts.atoms, 'propertyNames')], value),
    OBJECTS,
  ),
  dependentRequired: passes((_, context) => areNamesImplied('dependentRequired', context), OBJECTS),
  dependentSchemas: { types: OBJECTS, check: (_, context) => dependentFindings('dependentSchemas', context) },
  dependencies: {
    types: OBJECTS,
    check: (value, context) => [
      ...(areNamesImplied('dependencies', context) ? [] : [keywordFinding(value, context)]),
      ...dependentFindings('dependencies', context),
    ],
  },
};

/**
 * An object without the property was valid. Where nothing described the property no object is known to have it, and
 * where it was forbidden none has.
 */
function requiredFinding(name: string, { facts, schema, keyword, prover }: CheckContext): Finding {
  const isUnheardOf =
    !isMentioned(name, facts.schemas, prover) || prover.facts(facts.propertyByPatterns(name)).isEmpty;
  const kind = isUnheardOf ? 'breaking' : 'narrowing';
  return { schema, tokens: [keyword], kind, subject: 'required', value: name };
}

function propertyFindings(name: string, schema: Schema, context: CheckContext): readonly Finding[] {
  const { facts, prover, mode } = context;
  const known = facts.propertyByPatterns(name);
  const isNew = mode === 'report' && !isMentioned(name, facts.schemas, prover);
  if (isNew && !prover.facts([...known, schema]).isEmpty)
    return [{ schema: undefined, tokens: [], kind: 'compatible', subject: 'property', value: name }];
  return prover.findingsWithin(name, known, schema, mode);
}

/** Conditions on the properties whose names match a pattern: those that are known by name, and all others. */
function patternFindings(pattern: string, schema: Schema, context: CheckContext): readonly Finding[] {
  const { facts, prover, mode } = context;
  const names = namesIn(facts).filter((name) => isMatch(pattern, name));
  const named = findEach(names, mode, (name) =>
    prover.findingsWithin(name, facts.propertyByPatterns(name), schema, mode),
  );
  if (mode === 'prove' && named.length > 0) return named;
  const rests = facts.closures
    .filter(({ evaluations }) => evaluations.every((one) => one.patterns.size === 0 && !one.isOfAll))
    .map(({ rest }) => rest);
  const others = prover.findingsWithin({ pattern }, [...facts.pattern(pattern), ...rests], schema, mode);
  return [...named, ...others];
}

/** Conditions on objects that have a property. */
function dependentFindings(keyword: string, context: CheckContext): readonly Finding[] {
  const { facts, schema, prover, mode } = context;
  return findEach(namedSchemasIn(schema, keyword), mode, ([name, needed]) => {
    const known = facts.atoms
      .flatMap((atom) => DEPENDENT_SCHEMAS.map((other) => namedSchemaIn(atom, other, name)))
      .filter((other) => other !== undefined);
    const given = [...facts.schemas, ...known, { required: [name] }];
    const found = prover.findings(given, needed, mode).map(atMostNarrowing);
    return placedAt(context, [name], found);
  });
}

function areNamesImplied(keyword: string, { facts, schema, prover }: CheckContext): boolean {
  return [...namesByName(schema, keyword)].every(([name, needed]) => {
    const known = facts.atoms.flatMap((atom) =>
      DEPENDENT_NAMES.flatMap((other) => namesByName(atom, other).get(name) ?? []),
    );
    const isPresent = (other: string) => facts.required.has(other) || known.includes(other) || other === name;
    return needed.every(isPresent) || prover.facts(facts.propertyByPatterns(name)).isEmpty;
  });
}
