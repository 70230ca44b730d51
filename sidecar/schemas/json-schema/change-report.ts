import { isArray, type JsonObject, type JsonValue, type Schema } from '../../shared/json/json.js';
import { writeJson } from '../../shared/json/lossless-json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import type { Finding } from './checks.js';
import { Comparison } from './comparison.js';
import {
  type ChangeReason,
  type ChangeReport,
  type Difference,
  reasonOf,
  reportOf,
  worse,
} from './differences.js';
import { Facts } from './facts.js';
import { type FlatSchema, flatten, type Targets } from './flatten.js';
import { isSameSchema } from './logic-checks.js';
import { resolveWith } from './references.js';
import { cut } from '../../shared/shown.js';

const MAX_SHOWN_LENGTH = 100;

/**
 * What becomes of valid documents when a schema replaces another: the differences that matter to validation.
 *
 * - `compatible`: what was valid stays valid. A new optional property of which nothing was said before counts as such,
 *   although an open schema let documents use its name for something else.
 * - `narrowing`: some documents that were valid may no longer be, or it cannot be proven that they are.
 * - `breaking`: what documents were to hold is refused now: disjoint types or values, a property that is forbidden, or
 *   required without having been described.
 *
 * References and `allOf` are followed, so that where a condition stands does not matter; annotations do not either.
 *
 * @param before the old schema, bundled
 * @param after the new schema, bundled
 * @param entityType where the documents are entities of a model: its name
 * @throws {SchemaRefusedError} when one of them is not self-contained
 */
export function compareSchemas(before: JsonObject, after: JsonObject, entityType?: string): ChangeReport {
  return reportOf(traceChanges(before, after, entityType).changes.map(({ difference }) => difference));
}

/** A difference, and the findings behind it: none for one that refuses nothing. */
export interface TracedChange {
  readonly difference: Difference;
  readonly findings: readonly Finding[];
}

/** The differences of two schemas, and both of them, flat. */
export interface TracedChanges {
  readonly changes: readonly TracedChange[];
  /** What every document was known to satisfy. */
  readonly known: readonly Schema[];
  readonly fresh: JsonObject;
  readonly targets: Targets;
  /** Set where the documents are entities: their type, where it is known without the old schema. */
  readonly entity: { readonly type: string | undefined } | undefined;
}

/** As {@link compareSchemas}, with what each difference was found out from. */
export function traceChanges(before: JsonObject, after: JsonObject, entityType?: string): TracedChanges {
  const [old, fresh] = [labelled(before, 'old'), labelled(after, 'new')];
  const targets = new Map([...old.targets, ...fresh.targets]);
  const assumed = assumedOf(old.root, targets, entityType);
  const known = knownOf(old.root, assumed);
  const entity = assumed && { type: saysType(old.root, targets) ? undefined : entityType };
  const traced = { known, fresh: fresh.root, targets, entity };
  if (isSameSchema(old.root, fresh.root, targets)) return { ...traced, changes: [] };
  const stricter = new Comparison(targets, assumed).findings(known, fresh.root, 'report');
  const lax = assumedOf(fresh.root, targets, entityType);
  const laxer = new Comparison(targets, lax).findings(knownOf(fresh.root, lax), old.root, 'report');
  const told = stricter.map((finding) => ({
    finding,
    difference: differenceOf(finding, fresh.sources, IS_NEW),
  }));
  const changed = new Set(told.map(({ difference }) => difference.pointer));
  const others = laxer
    .map((finding) => ({ finding, difference: differenceOf(finding, old.sources, WAS_OLD) }))
    .filter(({ finding, difference }) => finding.subject !== 'keyword' || !changed.has(difference.pointer));
  const changes = new Map<string, TracedChange>();
  for (const { finding, difference } of told) {
    const key = `${difference.pointer} ${difference.detail}`;
    const same = changes.get(key);
    changes.set(key, {
      difference: same === undefined ? difference : worse(same.difference, difference),
      findings: [...(same?.findings ?? []), finding],
    });
  }
  for (const { difference } of others) {
    const key = `${difference.pointer} ${difference.detail}`;
    if (!changes.has(key))
      changes.set(key, { difference: { ...difference, class: 'compatible' }, findings: [] });
  }
  return { ...traced, changes: [...changes.values()] };
}

/**
 * What validation sees of every entity of a model: an object with an id and a type, which is the model's name where the
 * schema itself does not say what it is. Nothing where the schema accepts no entity at all.
 */
function assumedOf(
  root: JsonObject,
  targets: Targets,
  entityType: string | undefined,
): JsonObject | undefined {
  if (entityType === undefined) return undefined;
  const type = saysType(root, targets) ? { type: 'string' } : { const: entityType };
  const assumed = {
    type: 'object',
    required: ['id', 'type'],
    properties: { id: { type: 'string' }, type },
  };
  return new Facts([root, assumed], targets).isEmpty ? undefined : assumed;
}

function saysType(root: JsonObject, targets: Targets): boolean {
  return new Facts([root], targets).property('type').length > 0;
}

function knownOf(root: JsonObject, assumed: JsonObject | undefined): readonly Schema[] {
  return assumed === undefined ? [root] : [root, assumed];
}

/** The references of the two schemas must not be taken for each other. */
function labelled(schema: JsonObject, label: string): FlatSchema {
  return flatten(resolveWith(schema), {
    reference: (name) => `${label}${name === undefined ? '' : ` ${name}`}`,
  });
}

/** How a finding reads when the condition is the new schema's, or was the old one's. */
type Wording = Readonly<Record<Finding['subject'], (what: string, value: string, known?: string) => string>>;

const IS_NEW: Wording = {
  keyword: (what, value, known) =>
    known === undefined ? `${what} ${value} is new` : `${what} is ${value}, was ${known}`,
  property: (_, name) => `property ${name} is new`,
  required: (_, name) => `property ${name} is required now`,
  forbidden: (_, name) => `property ${name} is not allowed any more`,
  unproven: () => 'it is unclear whether everything that was valid still is',
};

const WAS_OLD: Wording = {
  keyword: (what, value, known) =>
    known === undefined ? `${what} ${value} is gone` : `${what} is ${known}, was ${value}`,
  property: (_, name) => `property ${name} is not described any more`,
  required: (_, name) => `property ${name} is not required any more`,
  forbidden: (_, name) => `property ${name} is allowed now`,
  unproven: () => 'it is unclear whether more is valid now',
};

const SUBJECTS: Readonly<Record<Finding['subject'], ChangeReason | undefined>> = {
  keyword: undefined,
  property: 'property',
  required: 'required',
  forbidden: 'property',
  unproven: 'unproven',
};

function differenceOf(
  { schema, tokens, kind, subject, beside, ...said }: Finding,
  sources: FlatSchema['sources'],
  wording: Wording,
): Difference {
  const place = schema === undefined ? undefined : sources.get(schema);
  const { value, known } = beside ?? said;
  const what = beside?.keyword ?? tokens.at(-1) ?? 'the schema';
  const hasBeside = beside !== undefined && schema !== undefined && Object.hasOwn(schema, beside.keyword);
  return {
    pointer: pointerOf([...(place?.tokens ?? []), ...(hasBeside ? [beside.keyword] : tokens)]),
    class: kind,
    reason: SUBJECTS[subject] ?? reasonOf(beside?.keyword ?? tokens[0] ?? ''),
    detail: wording[subject](what, show(value), known === undefined ? undefined : show(known)),
  };
}

/** The value itself where it is short. */
function show(value: JsonValue): string {
  const text = writeJson(value);
  const isLong = text.length > MAX_SHOWN_LENGTH;
  return isLong && isArray(value) ? `a list of ${value.length}` : cut(text, MAX_SHOWN_LENGTH);
}
