import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { truncate } from '../../shared/format-value.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
  childAt,
} from '../../shared/json/json.js';
import type { Unreadable } from '../../shared/json/strict-json.js';
import { isPlainlyValid, validateInLikelyForm } from './choose-form.js';
import { type NamedType, typesOf } from './body-entities.js';
import {
  type Judged,
  type JudgedEntity,
  type JudgedFinding,
  type JudgedOthers,
  type JudgedUnreadable,
  namesOthers,
} from './judged.js';
import { forgetPage, itemsOf, keepPage, type KeptPage, type ReadPage } from './kept-pages.js';
import { compiledModels, type GivenSchemas, type KeyedModel, type Model } from './model.js';
import { Spelling } from '../json-schema/spelling.js';
import type { EntityError } from './validate-entity.js';

/** A model that judges entities. */
interface JudgingModel extends KeyedModel {
  /** The types of its entities as written in them; undefined for a model of all entities. */
  readonly types?: readonly string[] | undefined;
  /** Whether entities may have any type that the schema allows, because the model has no name that could be their type. */
  readonly isOfAnyType?: boolean;
}

/** A page of entities to be judged, and the models that judge them. */
export interface JudgeInput {
  /** A JSON array of entities, or where one was read. */
  readonly page: string | KeptPage;
  /** Indexes of the entities to judge. */
  readonly take: readonly number[];
  readonly models: readonly JudgingModel[];
  /** Types that were looked up and have no model. */
  readonly unknownTypes: readonly string[];
  /** Types for which there are several models. */
  readonly ambiguousTypes: readonly string[];
  /** Given if the models do not fit into a worker's cache together. */
  readonly schemas?: GivenSchemas;
  /** Maximum number of invalid entities that are reported one by one. */
  readonly reported: number;
}

/** The results, or what a worker needs to judge the page. */
export type JudgeOutcome =
  | { readonly judged: Judged }
  | {
      readonly needs:
        | { readonly schemas: readonly string[] }
        | { readonly types: readonly NamedType[] }
        | { readonly text: true };
    };

/** Maximum number of ids given as examples of a finding. */
const MAX_SAMPLE = 5;

/** Maximum number of errors kept of one entity. */
const MAX_ERRORS = 10;

/** Maximum number of characters kept of a pointer, a detail or a type, and of an id; an ellipsis may follow. */
const MAX_CHARACTERS = 299;
const MAX_ID_CHARACTERS = 999;

/**
 * Maximum number of different findings in one page. It is more than a scan shows, so that the scan can say that there
 * are more.
 */
const MAX_FINDINGS = 4000;

/** Tasks that judge many entities at a time; they run in a worker. */
export const judgingTasks = {
  /**
   * Judges entities as `validate` does, and sums up their errors. A worker asks for the schema of a model that it
   * does not know yet, and for the models of a type that was not looked up.
   */
  judge({
    page,
    take,
    models,
    unknownTypes,
    ambiguousTypes,
    schemas = [],
    reported,
  }: JudgeInput): JudgeOutcome {
    const compiled = compiledModels(models, schemas);
    if ('needs' in compiled) return { needs: { schemas: compiled.needs } };
    const itemAt = itemsOf(page);
    if (itemAt === undefined) return { needs: { text: true } };
    const bench = new PageJudge(compiled.ready, { unknownTypes, ambiguousTypes, reported });
    for (const index of take) {
      const item = itemAt(index);
      if ('unreadable' in item) bench.addUnreadable(item.unreadable, item.text);
      else bench.judge(item.entity);
    }
    if (bench.unmetTypes.length > 0)
      return { needs: { types: bench.unmetTypes.map((type) => ({ type, localName: localName(type) })) } };
    forgetPage(page);
    return { judged: bench.result() };
  },

  /** Reads the ids in a page. The page is kept until it is judged, so that it is parsed only once. */
  readPage: ({ text }: { readonly text: string }): ReadPage => keepPage(text),
};

export type JudgingTasks = typeof judgingTasks;

/** The models that judge entities of some types, by index, or why none does. */
type Decision = readonly number[] | 'unknown' | 'ambiguous' | 'unmet';

/** A mutable copy of a type, for counts. */
type Growing<Part> = {
  -readonly [Member in keyof Part]: Part[Member] extends readonly (infer One)[] ? One[] : Part[Member];
};

/** Judges entities one after the other. */
class PageJudge {
  readonly #models: readonly Model[];
  readonly #ofAll: readonly number[] | undefined;
  readonly #isOfAnyType: boolean;
  readonly #decisions = new Map<string, Decision>();
  readonly #reportedMax: number;
  readonly #spelling = new Spelling();
  readonly #unmet = new Set<string>();
  readonly #counts: { valid: number; invalid: number }[];
  readonly #findings = new Map<string, Growing<JudgedFinding>>();
  readonly #entities: JudgedEntity[] = [];
  readonly #others = new Map<string, Growing<JudgedOthers>>();
  readonly #unreadable = new Map<string, Growing<JudgedUnreadable>>();
  #valid = 0;
  #invalid = 0;

  constructor(
    models: readonly (JudgingModel & { readonly model: Model })[],
    {
      unknownTypes,
      ambiguousTypes,
      reported,
    }: Pick<JudgeInput, 'unknownTypes' | 'ambiguousTypes' | 'reported'>,
  ) {
    this.#models = models.map(({ model }) => model);
    this.#reportedMax = reported;
    this.#counts = models.map(() => ({ valid: 0, invalid: 0 }));
    const ofAll = models.findIndex(({ types }) => types === undefined);
    this.#ofAll = ofAll < 0 ? undefined : [ofAll];
    this.#isOfAnyType = models[ofAll]?.isOfAnyType === true;
    for (const type of unknownTypes) this.#decisions.set(type, 'unknown');
    for (const type of ambiguousTypes) this.#decisions.set(type, 'ambiguous');
    models.forEach(({ types = [] }, index) => {
      for (const type of types) {
        const before = this.#decisions.get(type);
        this.#decisions.set(
          type,
          Array.isArray(before) ? [...(before as readonly number[]), index] : [index],
        );
      }
    });
  }

  /** Types that were not looked up. The page is judged again after they were. */
  get unmetTypes(): readonly string[] {
    return [...this.#unmet];
  }

  judge(entity: JsonObject): void {
    const types = typesOf(entity, undefined);
    const decision = this.#ofAll ?? this.#decisionOn(types);
    if (decision === 'unmet') return;
    if (decision === 'unknown' || decision === 'ambiguous') {
      this.#addUnjudged(entity, types, decision === 'ambiguous');
      return;
    }
    let isValid = true;
    let reported: number | undefined;
    for (const index of decision) {
      const named = this.#models[index];
      const counts = this.#counts[index];
      if (named === undefined || counts === undefined) continue;
      const model = this.#isOfAnyType ? ofTypes(named, types) : named;
      const errors = isPlainlyValid(entity, model)
        ? []
        : validateInLikelyForm(entity, model, {}, this.#spelling).errors;
      if (errors.length === 0) {
        counts.valid += 1;
        continue;
      }
      counts.invalid += 1;
      isValid = false;
      reported = this.#addErrors(index, entity, errors, reported);
    }
    if (isValid) this.#valid += 1;
    else this.#invalid += 1;
  }

  result(): Judged {
    return {
      valid: this.#valid,
      invalid: this.#invalid,
      models: this.#counts,
      entities: this.#entities,
      findings: [...this.#findings.values()],
      others: [...this.#others.values()],
      unreadable: [...this.#unreadable.values()],
    };
  }

  /** Counts an entity whose JSON cannot be read. @param text the text of the entity */
  addUnreadable({ detail, isTooDeep }: Pick<Unreadable, 'detail' | 'isTooDeep'>, text: string): void {
    const why = isTooDeep
      ? `it is ${detail}`
      : `not all readers understand the JSON in the same way, because ${detail}`;
    const known = this.#unreadable.get(why);
    const unreadable = known ?? { why, entities: 0, sample: [] };
    if (known === undefined) this.#unreadable.set(why, unreadable);
    unreadable.entities += 1;
    if (unreadable.sample.length < MAX_SAMPLE) unreadable.sample.push(idIn(text));
  }

  /**
   * The models of all its types judge an entity together. If there are several models for one of its types, none
   * judges it.
   */
  #decisionOn(types: readonly string[]): Decision {
    const [only] = types;
    if (only === undefined) return 'unknown';
    const decisions = types.map((type) => this.#decisions.get(type) ?? 'unmet');
    types.forEach((type, index) => {
      if (decisions[index] === 'unmet') this.#unmet.add(type);
    });
    if (decisions.includes('unmet')) return 'unmet';
    if (decisions.includes('ambiguous')) return 'ambiguous';
    const judges = decisions.flatMap((decision) => (typeof decision === 'string' ? [] : decision));
    return judges.length === 0 ? 'unknown' : [...new Set(judges)];
  }

  #addUnjudged(entity: JsonObject, types: readonly string[], isAmbiguous: boolean): void {
    const type = truncate(types.join(', '), MAX_CHARACTERS);
    const key = `${String(isAmbiguous)} ${type}`;
    const known = this.#others.get(key);
    const others = known ?? { type, isAmbiguous, entities: 0, sample: [] };
    if (known === undefined) this.#others.set(key, others);
    others.entities += 1;
    if (others.sample.length < MAX_SAMPLE) others.sample.push(idOf(entity));
  }

  /**
   * Adds the errors of an entity to the findings, each finding once. @returns the entity's index among the reported
   * ones
   */
  #addErrors(
    model: number,
    entity: JsonObject,
    errors: readonly EntityError[],
    before: number | undefined,
  ): number | undefined {
    let reported = before;
    if (reported === undefined && this.#entities.length < this.#reportedMax) {
      reported = this.#entities.length;
      this.#entities.push({
        id: idOf(entity),
        type: truncate(typesOf(entity, undefined).join(', '), MAX_CHARACTERS),
        errors: errors.slice(0, MAX_ERRORS).map((error) => ({
          pointer: truncate(pointerOf(error.tokens), MAX_CHARACTERS),
          keyword: error.keyword,
          detail: truncate(error.predicate(), MAX_CHARACTERS),
        })),
      });
    }
    const blamed = new Set<string>();
    for (const error of errors) {
      const { tokens, keyword } = error;
      const pointer = truncate(pointerOf(generalizedPath(entity, tokens)), MAX_CHARACTERS);
      const detail = namesOthers(keyword) ? truncate(error.predicate(), MAX_CHARACTERS) : undefined;
      const key = JSON.stringify([model, pointer, keyword, detail]);
      if (blamed.has(key)) continue;
      blamed.add(key);
      let finding = this.#findings.get(key);
      if (finding === undefined) {
        if (this.#findings.size >= MAX_FINDINGS) continue;
        const said = detail ?? truncate(error.predicate(), MAX_CHARACTERS);
        finding = { model, pointer, keyword, detail: said, entities: 0, single: 0, sample: [], reported: [] };
        this.#findings.set(key, finding);
      }
      finding.entities += 1;
      if (isSingle(error)) finding.single += 1;
      if (finding.sample.length < MAX_SAMPLE) finding.sample.push(idOf(entity));
      if (reported !== undefined) finding.reported.push(reported);
    }
    return reported;
  }
}

/** Whether an error is about a single value that is valid as an array of one item. */
function isSingle({ keyword, correction }: EntityError): boolean {
  const meant = keyword === 'type' ? correction?.() : undefined;
  return meant !== undefined && 'value' in meant && isArray(meant.value);
}

/** The model for entities of some types, if its schema does not say which types they have. */
function ofTypes(model: Model, types: readonly string[]): Model {
  const isSaid = model.types.some((type) => type !== model.name);
  return isSaid || types.length === 0 ? model : { ...model, types: types.map(localName) };
}

/** The path that stands for the same place in all similar entities: indexes in arrays become `*`. */
function generalizedPath(entity: JsonObject, tokens: readonly string[]): readonly string[] {
  let value: JsonValue | undefined = entity;
  return tokens.map((token) => {
    const isPosition = value !== undefined && isArray(value);
    value = childAt(value, token);
    return isPosition ? '*' : token;
  });
}

/** The id of an entity, shortened if it is long. */
function idOf(entity: JsonObject): string {
  const id = Object.hasOwn(entity, 'id') ? member(entity, 'id') : member(entity, '@id');
  return typeof id === 'string' ? truncate(id, MAX_ID_CHARACTERS) : '';
}

/** The id in the text of an entity, as most readers would read it. */
function idIn(text: string): string {
  try {
    const value = parseWithDoubles(text) as JsonValue;
    return isObject(value) ? idOf(value) : '';
  } catch {
    return '';
  }
}
