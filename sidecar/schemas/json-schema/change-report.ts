import type { ChangeKind, Finding } from './checks.js';
import { Comparison } from './comparison.js';
import { flatten, type FlatSchema } from './flatten.js';
import { isArray, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import { resolveWith } from './references.js';
import { isSameSchema } from './same-schema.js';

export type { ChangeKind } from './checks.js';

/** One difference between two versions of a schema. */
export interface Difference {
  /** JSON pointer (RFC 6901) into the new schema, or into the old one for what is no longer there. */
  readonly pointer: string;
  readonly kind: ChangeKind;
  readonly detail: string;
}

export interface ChangeReport {
  /** The worst of the differences; `compatible` when there is none. */
  readonly overall: ChangeKind;
  readonly differences: readonly Difference[];
}

/** From harmless to worst. */
const SEVERITY: readonly ChangeKind[] = ['compatible', 'narrowing', 'breaking'];

const LONGEST_SHOWN = 100;

/**
 * What becomes of valid documents when a schema replaces another: the differences that matter to validation.
 *
 * - `compatible`: what was valid stays valid. A new optional property of which nothing was said before counts as such,
 *   although an open schema let documents use its name for something else.
 * - `narrowing`: some documents that were valid may not be any more, or it cannot be told.
 * - `breaking`: what documents were to hold is refused now: disjoint types or values, a property that is forbidden, or
 *   required without having been described.
 *
 * References and `allOf` are followed, so that where a condition stands does not matter; annotations do not either.
 *
 * @param before the old schema, bundled
 * @param after the new schema, bundled
 * @throws {SchemaRefusedError} when one of them is not self-contained
 */
export function compareSchemas(before: JsonObject, after: JsonObject): ChangeReport {
  const [old, fresh] = [labelled(before, 'old'), labelled(after, 'new')];
  const targets = new Map([...old.targets, ...fresh.targets]);
  if (isSameSchema(old.root, fresh.root, targets)) return { overall: 'compatible', differences: [] };
  const stricter = new Comparison(targets).findings([old.root], fresh.root, 'report');
  const laxer = new Comparison(targets).findings([fresh.root], old.root, 'report');
  const told = stricter.map((finding) => differenceOf(finding, fresh.sources, IS_NEW));
  const changed = new Set(told.map(({ pointer }) => pointer));
  const others = laxer
    .map((finding) => ({ finding, ...differenceOf(finding, old.sources, WAS_OLD) }))
    .filter(({ finding, pointer }) => finding.subject !== 'keyword' || !changed.has(pointer))
    .map(({ pointer, detail }): Difference => ({ pointer, kind: 'compatible', detail }));
  const differences = distinct([...told, ...others]);
  const worst = Math.max(0, ...differences.map(({ kind }) => SEVERITY.indexOf(kind)));
  return { overall: SEVERITY[worst] ?? 'breaking', differences };
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
  unproven: () => 'it cannot be told whether all that was valid still is',
};

const WAS_OLD: Wording = {
  keyword: (what, value, known) =>
    known === undefined ? `${what} ${value} is gone` : `${what} is ${known}, was ${value}`,
  property: (_, name) => `property ${name} is not described any more`,
  required: (_, name) => `property ${name} is not required any more`,
  forbidden: (_, name) => `property ${name} is allowed now`,
  unproven: () => 'it cannot be told whether more is valid now',
};

function differenceOf(
  { schema, tokens, kind, subject, value, known }: Finding,
  sources: FlatSchema['sources'],
  wording: Wording,
): Difference {
  const place = schema === undefined ? undefined : sources.get(schema);
  const what = tokens.at(-1) ?? 'the schema';
  const other = known === undefined ? undefined : show(known);
  return {
    pointer: pointerOf([...(place?.tokens ?? []), ...tokens]),
    kind,
    detail: wording[subject](what, show(value), other),
  };
}

/** The value itself where it is short. */
function show(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (text.length <= LONGEST_SHOWN) return text;
  return isArray(value) ? `a list of ${value.length}` : `${text.slice(0, LONGEST_SHOWN)}…`;
}

function distinct(differences: readonly Difference[]): readonly Difference[] {
  return [...new Map(differences.map((one) => [`${one.pointer} ${one.detail}`, one])).values()];
}
