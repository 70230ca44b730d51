import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import type { NameReader, Names } from '../json-ld/names.js';
import { Spelling } from '../json-schema/spelling.js';
import { judgeFragment, judgeWhole } from './judge-entity.js';
import type { WrittenType } from './policy-choice.js';
import type { JudgeInput, JudgeNeeds, PrepareInput, SuppliedModel } from './protocol.js';
import { readSubmitted } from './submitted.js';
import { compileWriteModel, withIris, type WriteModel } from './write-models.js';

/** Thrown if something must be supplied before the write can be judged. */
export class MissingInputError extends Error {
  constructor(readonly needs: JudgeNeeds) {
    super('Something is needed.');
  }
}

/** Combines what all entities of a write need, without duplicates. Contexts are requested for one entity at a time. */
export function combineNeeds(needs: readonly JudgeNeeds[]): JudgeNeeds {
  const { urls, context } = needs.find((one) => one.urls !== undefined) ?? {};
  const lists = {
    types: distinct(
      needs.flatMap(({ types = [] }) => types),
      ({ iri, written }) => iri ?? written,
    ),
    models: [...new Set(needs.flatMap(({ models = [] }) => models))],
    unprepared: distinct(
      needs.flatMap(({ unprepared = [] }) => unprepared),
      modelKey,
    ),
    entities: [...new Set(needs.flatMap(({ entities = [] }) => entities))],
  };
  return {
    ...(urls === undefined || context === undefined ? {} : { urls, context }),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
  };
}

function distinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** What a worker knows of models, as long as the stamp stays the same. */
export class ModelCache {
  readonly names: NameReader;
  readonly #types = new Map<string, readonly SuppliedModel[]>();
  readonly #models = new Map<string, SuppliedModel | undefined>();
  readonly #resolved = new Map<string, ResolvedModel>();
  readonly #modelsOfType = new Map<string, readonly WriteModel[]>();

  /** @param before the cache of an earlier stamp, since which only documents of other origins may have changed */
  constructor(names: NameReader, before?: ModelCache) {
    this.names = names;
    if (before === undefined) return;
    for (const [key, meaning] of before.#resolved) if (meaning.isFixed) this.#resolved.set(key, meaning);
  }

  addSupplied({ supplied }: JudgeInput): void {
    for (const [iri, models] of supplied.types ?? []) this.#types.set(iri, models);
    for (const [name, model] of supplied.models ?? []) this.#models.set(name, model);
  }

  #ofType(type: WrittenType): readonly WriteModel[] {
    const { iri } = type;
    if (iri === undefined) return [];
    const known = this.#modelsOfType.get(iri);
    if (known !== undefined) return known;
    const candidates = this.#types.get(iri);
    if (candidates === undefined) throw new MissingInputError({ types: [type] });
    const unprepared = candidates.filter((one) => !this.#resolved.has(modelKey(one)));
    if (unprepared.length > 0) throw new MissingInputError({ unprepared });
    const models: WriteModel[] = [];
    for (const one of candidates) {
      const model = this.#resolve(one);
      if (model?.types.has(iri) === true) models.push(model);
    }
    this.#modelsOfType.set(iri, models);
    return models;
  }

  /** The models that judge an entity, or why none does. @param name the model that its policy names */
  judging(types: readonly WrittenType[], name: string | undefined): readonly WriteModel[] | string {
    if (name !== undefined) {
      const model = this.#named(name);
      if (model === undefined)
        return `the model ${name} of the policy does not exist, or its @context cannot be used`;
      return types.some(({ iri }) => model.types.has(iri ?? ''))
        ? [model]
        : `it is not of the type of the model ${name}`;
    }
    const found = new Set<WriteModel>();
    for (const type of types) {
      const models = this.#ofType(type);
      if (models.length > 1)
        return `its type ${type.iri} is that of several models: ${models.map(({ title }) => title).join(', ')}`;
      for (const model of models) found.add(model);
    }
    if (found.size > 0) return [...found];
    if (types.length === 0) return 'it has no type';
    const shown = types.slice(0, 5).map(({ iri, written }) => iri ?? written);
    return `there is no model for its type ${shown.join(', ')}`;
  }

  #named(name: string): WriteModel | undefined {
    if (!this.#models.has(name)) throw new MissingInputError({ models: [name] });
    const found = this.#models.get(name);
    return found === undefined ? undefined : this.#resolve(found);
  }

  #resolve(one: SuppliedModel): WriteModel | undefined {
    const known = this.#resolved.get(modelKey(one));
    if (known === undefined) throw new MissingInputError({ unprepared: [one] });
    return known.model;
  }

  /** Compiles a model and reads what its names mean. @returns the URLs of contexts that are needed first */
  async prepare(
    { schema, ...one }: PrepareInput['models'][number],
    { stamp, contexts }: PrepareInput,
  ): Promise<readonly string[]> {
    const compiled = compileWriteModel(one, schema);
    const outcome = await this.names.read(contextIn(one), stamp, contexts);
    if ('needs' in outcome) return outcome.needs.urls;
    if ('unusable' in outcome) this.#resolved.set(modelKey(one), { model: undefined, isFixed: false });
    else {
      const model = withIris(one.title, compiled, outcome.names);
      this.#resolved.set(modelKey(one), { model, isFixed: outcome.isFixed });
      warmUp(model, outcome.names);
    }
    return [];
  }
}

interface ResolvedModel {
  /** Undefined if its @context cannot be used. */
  readonly model: WriteModel | undefined;
  /** Whether the meaning never changes, because the @context depends on no other document. */
  readonly isFixed: boolean;
}

function modelKey({ title, key, context }: SuppliedModel): string {
  return `${title} ${key} ${context}`;
}

function contextIn({ context }: SuppliedModel): JsonValue | undefined {
  const document = parseWithDoubles(context) as JsonObject;
  return member(document, '@context');
}

/** Runs the code once: the first run is slow, and there is little time to judge a write. */
function warmUp(model: WriteModel, names: Names): void {
  const [type = model.whole.name] = model.whole.types;
  const sample = { id: 'urn:ngsi-ld:sample:1', type, sample: { type: 'Property', value: 1 } };
  const submitted = readSubmitted(sample, names);
  if ('ambiguity' in submitted) return;
  const options = {
    isSimplified: false,
    isMerge: false,
    isPartial: false,
    isTemporal: false,
    deletes: 'nothing' as const,
  };
  judgeWhole([model], submitted, options, new Spelling());
  judgeFragment([model], submitted, options, new Spelling());
}
