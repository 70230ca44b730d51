import type { JsonObject, Schema } from '../../shared/json/json.js';
import { cachedAttributesOf, entityTypes, listedTypes } from './attributes.js';
import { laxerDifference, stricterDifference } from './change-wording.js';
import type { Finding } from './checks.js';
import { Comparison } from './comparison.js';
import { type ChangeReport, type Difference, reportOf, worse } from './differences.js';
import { ValueConstraints } from './value-constraints.js';
import type { ReferenceTargets } from './flatten.js';
import { SchemaClasses } from './schema-classes.js';

/**
 * Compares two schemas: how the new one affects documents that were valid. Reports the differences that matter to
 * validation.
 *
 * - `compatible`: what was valid stays valid. A new optional property counts as compatible if nothing was said about
 * it before, although an open schema let documents use its name for something else.
 * - `narrowing`: some documents that were valid may no longer be, or it cannot be proven that all still are.
 * - `breaking`: something that documents had to contain is now refused: types or values are disjoint, a property is
 * forbidden, or a property is required that was not described before.
 *
 * References and `allOf` are resolved, so it does not matter where a condition is written; annotations do not matter
 * either.
 *
 * @param before the old schema, bundled
 * @param after the new schema, bundled
 * @param entityType the name of the model, if the documents are its entities
 * @throws {SchemaRefusedError} when one of the schemas is not self-contained
 */
export function compareSchemas(before: JsonObject, after: JsonObject, entityType?: string): ChangeReport {
  return reportOf(compareWithFindings(before, after, entityType).changes.map(({ difference }) => difference));
}

/** A difference, and the findings behind it; there are none if it refuses nothing. */
export interface TracedChange {
  readonly difference: Difference;
  readonly findings: readonly Finding[];
}

/** The differences of two schemas, and both schemas in flat form. */
export interface TracedChanges {
  readonly changes: readonly TracedChange[];
  /** The schemas that every valid document satisfied. */
  readonly known: readonly Schema[];
  readonly fresh: JsonObject;
  readonly targets: ReferenceTargets;
  /** The types that the documents may have, if they are entities. */
  readonly types: readonly string[] | undefined;
}

/** As {@link compareSchemas}, with the findings behind each difference. */
export function compareWithFindings(
  before: JsonObject,
  after: JsonObject,
  entityType?: string,
): TracedChanges {
  const [old, fresh] = [cachedAttributesOf(before), cachedAttributesOf(after)];
  const targets = new Map([...old.targets, ...fresh.targets]);
  const assumed = assumedOf(old.root, targets, entityType);
  const known = knownOf(old.root, assumed);
  const traced = { known, fresh: fresh.root, targets, types: assumed?.types };
  const classes = new SchemaClasses([old.root, fresh.root], targets);
  if (classes.areSame(old.root, fresh.root)) return { ...traced, changes: [] };
  const stricter = new Comparison(targets, classes, { assumed: assumed?.schema }).findings(
    known,
    fresh.root,
    'report',
  );
  const lax = assumedOf(fresh.root, targets, entityType);
  const laxer = new Comparison(targets, classes, { assumed: lax?.schema, isReversed: true }).findings(
    knownOf(fresh.root, lax),
    old.root,
    'report',
  );
  const changes = new Map<string, TracedChange>();
  const changed = new Set<string>();
  for (const finding of stricter) {
    const difference = stricterDifference(finding, fresh.sources);
    const key = `${difference.pointer} ${difference.detail}`;
    const same = changes.get(key);
    changed.add(difference.pointer);
    changes.set(key, {
      difference: same === undefined ? difference : worse(same.difference, difference),
      findings: [...(same?.findings ?? []), finding],
    });
  }
  for (const finding of laxer) {
    const difference = laxerDifference(finding, old.sources, fresh.sources);
    if (finding.subject === 'keyword' && changed.has(difference.pointer)) continue;
    const key = `${difference.pointer} ${difference.detail}`;
    if (!changes.has(key)) changes.set(key, { difference, findings: [] });
  }
  return { ...traced, changes: [...changes.values()] };
}

/** What is known of entities of certain types. */
interface AssumedEntity {
  readonly schema: JsonObject;
  readonly types: readonly string[];
}

/**
 * What validation assumes about every entity of a model: it is an object with a URI as its id and a type, and the type is
 * the model's name unless the schema lists others. Undefined if the documents are not entities, or if the schema
 * accepts no entity at all.
 */
function assumedOf(
  root: JsonObject,
  targets: ReferenceTargets,
  entityType: string | undefined,
): AssumedEntity | undefined {
  if (entityType === undefined) return undefined;
  const types = entityTypes(entityType, listedTypes({ root, targets }));
  const [only, ...others] = types;
  const type = others.length === 0 ? { const: only ?? entityType } : { enum: types };
  const schema = {
    type: 'object',
    required: ['id', 'type'],
    properties: { id: { type: 'string', format: 'uri' }, type },
  };
  return new ValueConstraints([root, schema], targets).isEmpty ? undefined : { schema, types };
}

function knownOf(root: JsonObject, assumed: AssumedEntity | undefined): readonly Schema[] {
  return assumed === undefined ? [root] : [root, assumed.schema];
}
