import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerOf,
  itemsOf,
} from '../../shared/json/json.js';
import { intersection } from '../../shared/json/lossless-json.js';
import { truncate } from '../../shared/format-value.js';
import type { Finding } from './checks.js';
import { type ChangeReason, type Difference, reasonOf } from './differences.js';
import { type FlatSchema, namedSchemaIn } from './flatten.js';

const MAX_SHOWN_LENGTH = 100;

/** Maximum number of values named when an enumeration has lost or gained some, and the maximum length of each. */
const MAX_NAMED_VALUES = 5;
const MAX_VALUE_LENGTH = 30;

/** The mark of a model at the start of a reference; see `cachedAttributesOf`. */
const MODEL_MARK = /("\$ref":")\d+ /g;

type Sources = FlatSchema['sources'];

/** The difference made by a condition of the new schema that does not follow from the old one. */
export function stricterDifference(finding: Finding, sources: Sources): Difference {
  return differenceOf(finding, placeOf(finding, sources), STRICTER[finding.subject](wordsFor(finding)));
}

/**
 * The difference made by a condition of the old schema that does not follow from the new one.
 *
 * @param fresh positions in the new schema; the difference points there if the new schema describes its property
 */
export function laxerDifference(finding: Finding, sources: Sources, fresh: Sources): Difference {
  const place = describedIn(finding, fresh) ?? placeOf(finding, sources);
  return { ...differenceOf(finding, place, LAXER[finding.subject](wordsFor(finding))), class: 'compatible' };
}

/** The parts of a sentence about a finding. */
interface Words {
  /** The keyword, or the last token of the place within it. */
  readonly what: string;
  readonly value: JsonValue;
  readonly known: JsonValue | undefined;
}

type Wording = Readonly<Record<Finding['subject'], (words: Words) => string>>;

const STRICTER: Wording = {
  keyword: ({ what, value, known }) => {
    if (known !== undefined) return changed(what, known, value);
    return value === false ? `${what} is false now` : `${named(what, value)} is new`;
  },
  property: ({ value }) => `property ${show(value)} is new`,
  required: ({ value }) => `property ${show(value)} is required now`,
  other: ({ what, value, known }) =>
    known === false
      ? `property ${show(value)} is no longer allowed`
      : `property ${show(value)} has to satisfy ${what} now`,
  others: ({ what, value, known }) =>
    known === false
      ? `properties that match ${show(value)} are no longer allowed`
      : `properties that match ${show(value)} have to satisfy ${what} now`,
  unproven: () => 'it is unclear whether everything that was valid still is',
};

const LAXER: Wording = {
  keyword: ({ what, value, known }) => {
    if (known !== undefined) return changed(what, value, known);
    return value === false ? `${what} is no longer false` : `${named(what, value)} is gone`;
  },
  property: ({ value }) => `property ${show(value)} is no longer described`,
  required: ({ value }) => `property ${show(value)} is no longer required`,
  other: ({ what, value, known }) =>
    known === false
      ? `property ${show(value)} is allowed now`
      : `property ${show(value)} no longer has to satisfy ${what}`,
  others: ({ what, value, known }) =>
    known === false
      ? `properties that match ${show(value)} are allowed now`
      : `properties that match ${show(value)} no longer have to satisfy ${what}`,
  unproven: () => 'it is unclear whether more is valid now',
};

function wordsFor({ tokens, relatedKeyword, ...said }: Finding): Words {
  const { value, known } = relatedKeyword ?? said;
  return { what: relatedKeyword?.keyword ?? tokens.at(-1) ?? 'the schema', value, known };
}

const REASONS: Readonly<Record<Finding['subject'], ChangeReason | undefined>> = {
  keyword: undefined,
  property: 'property',
  required: 'required',
  other: 'property',
  others: 'property',
  unproven: 'unproven',
};

function differenceOf(
  { tokens, kind, subject, relatedKeyword }: Finding,
  place: readonly string[],
  detail: string,
): Difference {
  const reason = REASONS[subject] ?? reasonOf(relatedKeyword?.keyword ?? tokens[0] ?? '');
  return { pointer: pointerOf(place), class: kind, reason, detail };
}

function placeOf({ schema, tokens, relatedKeyword }: Finding, sources: Sources): readonly string[] {
  const place = schema === undefined ? undefined : sources.get(schema);
  const hasBeside =
    relatedKeyword !== undefined && schema !== undefined && Object.hasOwn(schema, relatedKeyword.keyword);
  return [...(place?.tokens ?? []), ...(hasBeside ? [relatedKeyword.keyword] : tokens)];
}

/** Where the new schema describes the properties to which the condition on all others applied before. */
function describedIn(
  { subject, value, knownSchemas = [] }: Finding,
  sources: Sources,
): readonly string[] | undefined {
  if (typeof value !== 'string' || (subject !== 'other' && subject !== 'others')) return undefined;
  const keyword = subject === 'other' ? 'properties' : 'patternProperties';
  const describing = knownSchemas.find(
    (atom): atom is JsonObject => isObject(atom) && namedSchemaIn(atom, keyword, value) !== undefined,
  );
  const place = describing && sources.get(describing);
  return place && [...place.tokens, keyword, value];
}

/** What a keyword is and what it was; only its name if both values are too long to be told apart. */
function changed(what: string, was: JsonValue, is: JsonValue): string {
  const [before, now] = [show(was), show(is)];
  if (isShort(was) && isShort(is) && before !== now) return `${what} is ${now}, was ${before}`;
  const values =
    what === 'enum' || what === 'const' ? changedValues(what, itemsOf(was), itemsOf(is)) : undefined;
  if (values !== undefined) return values;
  const areTexts = !isArray(was) && !isArray(is) && before !== now;
  return areTexts ? `${what} is ${now}, was ${before}` : `${what} has changed`;
}

/** Which values an enumeration has lost and gained. */
function changedValues(
  what: string,
  was: readonly JsonValue[],
  is: readonly JsonValue[],
): string | undefined {
  const [kept, known] = [new Set(intersection(was, is)), new Set(intersection(is, was))];
  const lost = was.filter((value) => !kept.has(value));
  const gained = is.filter((value) => !known.has(value));
  const parts = [
    ...(lost.length > 0 ? [`lost ${listed(lost)}`] : []),
    ...(gained.length > 0 ? [`gained ${listed(gained)}`] : []),
  ];
  return parts.length > 0 ? `${what} ${parts.join(', ')}` : undefined;
}

function listed(values: readonly JsonValue[]): string {
  const shown = values
    .slice(0, MAX_NAMED_VALUES)
    .map((value) => truncate(JSON.stringify(value), MAX_VALUE_LENGTH));
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** A keyword with its value; a list that is too long to read is represented by its number of entries. */
function named(what: string, value: JsonValue): string {
  return isArray(value) && !isShort(value)
    ? `${what} with ${value.length} entries`
    : `${what} ${show(value)}`;
}

function isShort(value: JsonValue): boolean {
  return textOf(value).length <= MAX_SHOWN_LENGTH;
}

function show(value: JsonValue): string {
  return truncate(textOf(value), MAX_SHOWN_LENGTH);
}

/** The text of a value. References are shown without the mark of their model. */
function textOf(value: JsonValue): string {
  return JSON.stringify(value).replaceAll(MODEL_MARK, '$1');
}
