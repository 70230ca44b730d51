import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import { isFeature } from '../../ngsi-ld/representation/geojson.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';
import type { Refused, TaskAnswer } from '../../shared/task-answer.js';
import { validateInLikelyForm } from './choose-form.js';
import { compiledModel, compileModel } from './compiled-models.js';
import { entitiesIn, type ValidationRefusal } from './entities-in.js';
import type { Model } from './model.js';
import { Reports } from './reports.js';
import { Spelling } from './spelling.js';
import { bounded, noticed } from './tasks.js';
import type { EntityOptions, EntityVerdict } from './validate-entity.js';

/** The types of some entities of a body, and where the first of them stands. */
export interface TypesInBody {
  readonly types: readonly NamedType[];
  /** JSON pointer to the entity. */
  readonly pointer: string;
}

/** A type as an entity has it, and the name at its end where it is an IRI. */
export interface NamedType {
  readonly type: string;
  readonly localName: string;
}

/** Different types that the entities of one body have. */
const MAX_TYPES = 100;

/** Faults that a refusal lists. */
const MAX_LISTED = 100;

const TOO_MANY_TYPES: ValidationRefusal = {
  kind: 'limitExceeded',
  detail: `The entities have more than ${MAX_TYPES} different types: send fewer at a time.`,
  errors: [],
};

export interface BodyInput {
  /** The body: an entity, an array of entities, or a FeatureCollection. */
  readonly text: string;
  readonly form?: SubmittedForm;
}

export interface TypeModel {
  /** Names the schema by its content, as `ValidateInput` has it. */
  readonly key: string;
  readonly name: string;
  /** What answers call the model: `domain/model`. */
  readonly title: string;
  /** The types for which it is the model. */
  readonly types: readonly string[];
  /** Said of its first entity: that it is deprecated. Completes "The entity …". */
  readonly deprecation?: string;
}

/** Texts of the schemas that workers have asked for, by key. */
type GivenSchemas = readonly (readonly [key: string, schema: string])[];

export interface ValidateByTypeInput extends BodyInput {
  readonly isStrict?: boolean;
  readonly models: readonly TypeModel[];
  /** Given where a worker cannot keep all models at a time. */
  readonly schemas?: GivenSchemas;
}

export interface PrepareByTypeInput {
  readonly models: readonly Pick<TypeModel, 'key' | 'name'>[];
  readonly schemas: GivenSchemas;
}

export type TypesOutcome =
  | { readonly found: readonly TypesInBody[] }
  | { readonly unreadable: Unreadable }
  | Refused<ValidationRefusal['kind']>;

/** Keys of the models of which a worker needs the schemas. */
interface NeedsModels {
  readonly needs: readonly string[];
}

export type ValidateByTypeOutcome = TaskAnswer<ValidationRefusal['kind']> | NeedsModels;

/** `areKept`: whether all models will be there for the next task, and are not too large to be kept together. */
export type PrepareByTypeOutcome = { readonly areKept: boolean } | NeedsModels;

/** Tasks that validate entities against the models of their types. */
export const byTypeTasks = {
  /** The types of the entities of a body; refused where one has none. */
  typesInBody({ text, form }: BodyInput): TypesOutcome {
    const read = readJson(text);
    if ('unreadable' in read) return read;
    const found = entitiesIn(read.value as JsonValue, form);
    if ('refused' in found) return found;
    const lists = new Map<string, TypesInBody>();
    const untyped: string[] = [];
    const all = new Set<string>();
    for (const { entity, path } of found.entities) {
      const types = typesOf(entity, form);
      const pointer = pointerOf(path);
      if (types.length === 0) untyped.push(pointer);
      for (const type of types) all.add(type);
      if (all.size > MAX_TYPES) return { refused: TOO_MANY_TYPES };
      const list = JSON.stringify([...types].sort());
      if (!lists.has(list))
        lists.set(list, { types: types.map((type) => ({ type, localName: localName(type) })), pointer });
    }
    if (untyped.length > 0) return { refused: refusalOfUntyped(untyped) };
    return { found: [...lists.values()] };
  },

  /** Compiles the models, to be kept for entities. It depends on no entity, and takes longer than one. */
  prepareByType({ models, schemas }: PrepareByTypeInput): PrepareByTypeOutcome {
    const needs = needed(compiledOf(models, schemas));
    if (needs.length > 0) return { needs };
    return { areKept: models.every(({ key, name }) => compiledModel(key, name) !== undefined) };
  },

  /**
   * Validates each entity against the model of each of its types that has one. The answer is as that of `validate`, with
   * `models`, the titles of the models. A worker that has not met a model yet needs its schema.
   */
  validateByType({ text, models, schemas = [], form, isStrict }: ValidateByTypeInput): ValidateByTypeOutcome {
    const compiled = compiledOf(models, schemas);
    const ready = compiled.filter(isReady);
    if (ready.length < compiled.length) return { needs: needed(compiled) };
    const read = readJson(text);
    if ('unreadable' in read) return read;
    const found = entitiesIn(read.value as JsonValue, form);
    if ('refused' in found) return found;
    const reports = new Reports();
    const spelling = new Spelling();
    const deprecations = new Set<string>();
    const options = { form, ...(isStrict === undefined ? {} : { isStrict }) };
    for (const { entity, path } of found.entities) {
      const types = typesOf(entity, form);
      const own = ready.filter((one) => one.types.some((type) => types.includes(type)));
      const verdict = verdictBy(own, entity, options, spelling);
      const said = own
        .flatMap(({ deprecation }) => deprecation ?? [])
        .filter((one) => !deprecations.has(one));
      for (const one of said) deprecations.add(one);
      reports.add(entity, said.reduce(noticed, verdict), path);
    }
    const written = reports.write(text).join();
    return bounded(found.isList ? `[${written}]` : written);
  },
};

export type ByTypeTasks = typeof byTypeTasks;

interface ReadyModel extends TypeModel {
  readonly model: Model;
}

type Compiled<One> = One & { readonly model: Model | undefined };

/** The models that this worker has compiled, or compiles now. */
function compiledOf<One extends Pick<TypeModel, 'key' | 'name'>>(
  models: readonly One[],
  schemas: GivenSchemas,
): readonly Compiled<One>[] {
  const given = new Map(schemas);
  return models.map((one) => {
    const schema = given.get(one.key);
    const model =
      schema === undefined ? compiledModel(one.key, one.name) : compileModel(one.key, one.name, schema);
    return { ...one, model };
  });
}

function needed(compiled: readonly Compiled<Pick<TypeModel, 'key'>>[]): readonly string[] {
  return compiled.flatMap(({ key, model }) => (model === undefined ? [key] : []));
}

function isReady(one: Compiled<TypeModel>): one is ReadyModel {
  return one.model !== undefined;
}

/** The types that an entity says it has; of a Feature, the entity within. */
function typesOf(entity: JsonObject, form: SubmittedForm | undefined): readonly string[] {
  const isGeoJson = form === 'geojson' || (form === undefined && isFeature(entity));
  const properties = isGeoJson ? member(entity, 'properties') : undefined;
  const holder = isObject(properties) ? properties : entity;
  const type = member(holder, typeMemberOf(holder));
  return (isArray(type) ? type : [type]).filter(
    (one) => typeof one === 'string' && one !== '',
  ) as readonly string[];
}

function refusalOfUntyped(pointers: readonly string[]): ValidationRefusal {
  const detail = 'must have a type, such as "Vehicle", by which its model is found';
  return {
    kind: 'bodyInvalid',
    detail: `The body is invalid: ${pointers[0] === '' ? 'it' : String(pointers[0])} ${detail}.`,
    errors: pointers.slice(0, MAX_LISTED).map((pointer) => ({ pointer, detail })),
  };
}

/** What any model has against an entity. What one model does not know, another may. */
function verdictBy(
  models: readonly ReadyModel[],
  entity: JsonObject,
  options: EntityOptions,
  spelling: Spelling,
): EntityVerdict & { readonly models: readonly string[] } {
  const verdicts = models.map(({ model }) => validateInLikelyForm(entity, model, options, spelling));
  const titles = models.map(({ title }) => title);
  const [first, ...others] = verdicts;
  if (first === undefined) throw new Error('An entity was to be validated without a model.');
  if (others.length === 0) return { ...first, models: titles };
  const warnings = verdicts.flatMap((one, index) =>
    one.warnings.filter(({ code }) => index === 0 || code !== UNKNOWN),
  );
  const isUnknownToAll = ({ tokens }: { readonly tokens: readonly string[] }) =>
    verdicts.every((one) =>
      one.warnings.some((other) => other.code === UNKNOWN && other.tokens.join('/') === tokens.join('/')),
    );
  return {
    form: first.form,
    models: titles,
    errors: distinct(verdicts.flatMap((one) => one.errors)),
    warnings: distinct(warnings.filter((one) => one.code !== UNKNOWN || isUnknownToAll(one))),
  };
}

const UNKNOWN = 'unknown-attribute';

interface Issue {
  readonly tokens: readonly string[];
  readonly keyword?: string;
  readonly code?: string;
  readonly say: () => string;
}

/** Models of one entity agree on what NGSI-LD forbids: it is said once. */
function distinct<One extends Issue>(all: readonly One[]): readonly One[] {
  const keyOf = ({ tokens, keyword, code, say }: Issue) => JSON.stringify([tokens, keyword, code, say()]);
  return [...new Map(all.map((one) => [keyOf(one), one] as const)).values()];
}
