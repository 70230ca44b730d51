import { type Position, positionsOf } from '../../shared/json/json-positions.js';
import { isObject, type JsonObject, type JsonValue, pointerOf, childAt } from '../../shared/json/json.js';
import type { EntityError, EntityNotice, EntityVerdict } from './validate-entity.js';

/** Limits on the content of an answer. */
const REPORT_LIMITS = {
  /** Maximum number of errors of one entity; the same for warnings. */
  entity: 100,
  /** Maximum number of errors of all entities of a body; the same for warnings. After that, each entity shows one error. */
  body: 1000,
  /** Maximum length of all pointers in an answer. After that, each entity shows one error. */
  pointers: 1_000_000,
} as const;

/** A suggestion in an answer: the value to write there, or the name for the member that the pointer ends with. */
type Suggestion = { readonly value: JsonValue } | { readonly name: string };

/** An error or a warning that is shown. */
type Shown = ShownError | ShownNotice;
type ShownError = EntityError & { readonly suggestion?: Suggestion | undefined };
type ShownNotice = EntityNotice & { readonly suggestion?: Suggestion | undefined };

/** What is shown of one entity. Tokens are those from the root of the body. */
interface Report {
  readonly form: EntityVerdict['form'];
  /** The models that it was validated against, if the caller did not name one. */
  readonly models: readonly string[] | undefined;
  readonly isValid: boolean;
  readonly errors: readonly ShownError[];
  readonly warnings: readonly ShownNotice[];
}

/** Collects the reports on the entities of a body, and writes them as JSON. */
export class Reports {
  readonly #reports: Report[] = [];
  #errors = 0;
  #warnings = 0;
  #pointersLeft: number = REPORT_LIMITS.pointers;

  /** Adds the report on an entity. @param path tokens of the entity in the body */
  add(
    entity: JsonObject,
    { form, errors, warnings, models }: EntityVerdict & { readonly models?: readonly string[] },
    path: readonly string[],
  ): void {
    if (errors.length === 0 && warnings.length === 0) {
      this.#reports.push({ form, models, isValid: true, errors, warnings });
      return;
    }
    const { entity: most, body } = REPORT_LIMITS;
    const inBody = <One extends Shown>(one: One): One => ({
      ...one,
      tokens: [...path, ...one.tokens],
      suggestion: suggestionFor(entity, one),
    });
    const someErrors = foremost(errors, entity, this.#errors < body ? most : 1).map(inBody);
    const someWarnings = foremost(warnings, entity, this.#warnings < body ? most : 0).map(inBody);
    const shownErrors = this.#fitting(someErrors, 1);
    const shownWarnings = this.#fitting(someWarnings, 0);
    this.#errors += shownErrors.length;
    this.#warnings += shownWarnings.length;
    const notices = [
      ...truncationNotice('errors', shownErrors, errors),
      ...truncationNotice('warnings', shownWarnings, warnings),
    ];
    this.#reports.push({
      form,
      models,
      isValid: errors.length === 0,
      errors: shownErrors,
      warnings: [...shownWarnings, ...notices.map(inBody)],
    });
  }

  /** The first ones, as many as fit into the answer, but no fewer than `least`. */
  #fitting<One extends Shown>(all: readonly One[], least: number): readonly One[] {
    const end = all.findIndex(({ tokens }, index) => {
      this.#pointersLeft -= lengthOf(tokens);
      return index >= least && this.#pointersLeft < 0;
    });
    return end < 0 ? all : all.slice(0, end);
  }

  /**
   * Returns the JSON of each report: `{valid, form, errors: [{pointer, detail, keyword, line, column, suggestion?}],
   * warnings}`, sorted by place in the text.
   */
  write(text: string): readonly string[] {
    const all = this.#reports.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
    if (all.length === 0) return this.#reports.map((report) => reportJson(report, NO_POSITIONS));
    const found = positionsOf(
      text,
      all.map(({ tokens }) => tokens),
    );
    const positions = new Map(all.map((one, index) => [one, found[index] ?? START] as const));
    return this.#reports.map((report) => reportJson(report, positions));
  }
}

/** Maximum number of characters of a string that is repeated in a suggestion. */
const MAX_SUGGESTED = 1000;

/**
 * The suggestion for an error, if it can be applied to the entity as it was sent. The value that was checked may be a
 * conversion of that.
 */
function suggestionFor(entity: JsonObject, { tokens, correction }: Shown): Suggestion | undefined {
  const suggested = correction?.();
  const name = tokens.at(-1);
  if (suggested === undefined || name === undefined) return undefined;
  const holder = tokens.slice(0, -1).reduce<JsonValue | undefined>(childAt, entity);
  const written = childAt(holder, name);
  if ('name' in suggested) {
    const canBeNamed = isObject(holder) && written !== undefined && !Object.hasOwn(holder, suggested.name);
    return canBeNamed ? suggested : undefined;
  }
  const { value, insteadOf } = suggested;
  const isShort = typeof insteadOf !== 'string' || insteadOf.length <= MAX_SUGGESTED;
  return isShort && written === insteadOf ? { value } : undefined;
}

function lengthOf(tokens: readonly string[]): number {
  return tokens.reduce((length, token) => length + token.length + 1, 0);
}

const NO_POSITIONS: ReadonlyMap<Shown, Position> = new Map();

const START: Position = { line: 1, column: 1 };

function foremost<One extends Shown>(all: readonly One[], entity: JsonObject, most: number): readonly One[] {
  if (all.length <= most) return all;
  const order = documentOrder(entity);
  return [...all].sort((one, other) => order(one.tokens, other.tokens)).slice(0, most);
}

function truncationNotice(
  what: 'errors' | 'warnings',
  shown: readonly Shown[],
  all: readonly Shown[],
): readonly EntityNotice[] {
  if (shown.length === all.length) return [];
  const predicate = () => `has more ${what} than the ${shown.length} shown`;
  return [{ tokens: [], code: `more-${what}`, predicate }];
}

function reportJson(
  { form, models, isValid, errors, warnings }: Report,
  positions: ReadonlyMap<Shown, Position>,
): string {
  if (errors.length === 0 && warnings.length === 0 && models === undefined)
    return `{"valid":${isValid},"form":"${form}","errors":[],"warnings":[]}`;
  const entries = <One extends Shown>(
    all: readonly One[],
    tell: (one: One) => JsonObject,
  ): readonly JsonValue[] =>
    all
      .map((one) => ({ one, ...(positions.get(one) ?? START) }))
      .sort((first, second) => first.line - second.line || first.column - second.column)
      .map(({ one, line, column }) => ({
        pointer: pointerOf(one.tokens),
        detail: one.predicate(),
        ...tell(one),
        line,
        column,
        ...(one.suggestion === undefined ? {} : { suggestion: one.suggestion }),
      }));
  const isLast = ({ code }: EntityNotice) => code.startsWith('more-');
  const inPlace = warnings.filter((warning) => !isLast(warning));
  const last = warnings.filter(isLast);
  const tellCode = ({ code }: EntityNotice): JsonObject => ({ code });
  return JSON.stringify({
    valid: isValid,
    form,
    ...(models === undefined ? {} : { models }),
    errors: entries(errors, ({ keyword }) => ({ keyword })),
    warnings: [...entries(inPlace, tellCode), ...entries(last, tellCode)],
  });
}

type Tokens = readonly string[];

/** Compares places in a document by their order there; a place comes before the places inside it. */
function documentOrder(document: JsonValue): (one: Tokens, other: Tokens) => number {
  const ranks = new Map<JsonValue, ReadonlyMap<string, number>>();
  const rankOf = (value: JsonValue | undefined, token: string): number => {
    if (!isObject(value)) return Number(token);
    const known =
      ranks.get(value) ?? new Map(Object.keys(value).map((name, index) => [name, index] as const));
    ranks.set(value, known);
    return known.get(token) ?? Infinity;
  };
  return (one, other) => {
    let value: JsonValue | undefined = document;
    for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
      const [first, second] = [one[index] ?? '', other[index] ?? ''];
      if (first !== second) return rankOf(value, first) - rankOf(value, second) || 0;
      value = childAt(value, first);
    }
    return one.length - other.length;
  };
}
