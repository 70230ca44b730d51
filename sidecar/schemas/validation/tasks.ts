import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import {
  type InputIssue,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerOf,
} from '../../shared/json/json.js';
import { readJson } from '../../shared/json/strict-json.js';
import type { TaskAnswer } from '../../shared/task-answer.js';
import { cachedAttributesOf } from '../json-schema/attributes.js';
import { parsedSchema } from '../json-schema/bundle.js';
import { preferredValues } from '../json-schema/example-generator.js';
import { normalizedExample, type ExampleFault, generateExample } from '../json-schema/example.js';
import { faultsOf } from '../json-schema/explain.js';
import { validateInLikelyForm, verdictByModels } from './choose-form.js';
import {
  entitiesIn,
  type PlacedEntity,
  typesInBody,
  type TypesInBody,
  typesOf,
  type ValidationRefusal,
} from './body-entities.js';
import {
  cachedModel,
  compiledModels,
  type GivenSchemas,
  type KeyedModel,
  type Model,
  prepareModel,
} from './model.js';
import { Reports } from './reports.js';
import { Spelling } from '../json-schema/spelling.js';
import type { EntityOptions, EntityVerdict } from './validate-entity.js';

/** Maximum number of characters of an answer: pointers repeat the names of members, which may be as long as a body. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** A model that entities are validated against. */
export interface EntityModel extends KeyedModel {
  /** Warns, at its first entity, that the model is deprecated. Completes "The entity …". */
  readonly deprecation?: string;
  /** For a model found by types: its title in answers, `domain/model`, and the types. */
  readonly byType?: { readonly title: string; readonly types: readonly string[] };
}

export interface ValidateInput {
  /** The body: an entity, an array of entities, or a FeatureCollection. */
  readonly text: string;
  /** The form of the entities; detected for each entity if left out. */
  readonly form?: SubmittedForm | undefined;
  /** See `EntityOptions`. */
  readonly isStrict?: boolean | undefined;
  /** The model of all entities; or the models of the types known so far, each with `byType`. */
  readonly models: readonly EntityModel[];
  /** Types that were looked up and have no model. */
  readonly unknownTypes?: readonly string[];
  /** Given if the models do not fit into a worker's cache together. */
  readonly schemas?: GivenSchemas;
}

interface CompileInput {
  readonly models: readonly KeyedModel[];
  readonly schemas: GivenSchemas;
}

/** What the caller must supply before the task can run: schemas by key, or the models of types. */
interface ValidationNeeds {
  readonly needs: { readonly schemas: readonly string[] } | { readonly types: readonly TypesInBody[] };
}

type ValidateOutcome = TaskAnswer<ValidationRefusal['kind']> | ValidationNeeds;

/** `areKept`: whether the cache holds all models together, so that the next task finds them. */
type CompileOutcome = { readonly areKept: boolean } | { readonly needs: readonly string[] };

/** Tasks that validate entities; they run in a worker, because models have patterns. */
export const validationTasks = {
  /**
   * Validates an entity, or each entity of an array or a FeatureCollection, against one model or the models of its
   * types. The answer is JSON: `{valid, form, errors: [{pointer, detail, keyword, line, column}], warnings:
   * [{pointer, detail, code, line, column}]}`, or an array of these; by type, each with `models`, the titles of its
   * models. Pointers lead through the body as submitted. A worker asks for the schema of a model that it does not
   * know yet.
   */
  validate(input: ValidateInput): ValidateOutcome {
    const { text, models, unknownTypes = [], schemas = [], form, isStrict } = input;
    const compiled = compiledModels(models, schemas);
    if ('needs' in compiled) return { needs: { schemas: compiled.needs } };
    const { ready } = compiled;
    const read = readJson(text);
    if ('unreadable' in read) return read;
    const given = ready.find(({ byType }) => byType === undefined);
    const found = entitiesIn(read.value as JsonValue, form, given?.model.types);
    if ('refused' in found) return found;
    if (given === undefined) {
      const types = typesInBody(found.entities, form);
      if ('refused' in types) return types;
      const known = new Set([...unknownTypes, ...models.flatMap(({ byType }) => byType?.types ?? [])]);
      const isKnown = (one: TypesInBody) => one.types.every(({ type }) => known.has(type));
      if (!types.every(isKnown)) return { needs: { types } };
    }
    const written = reportsOn(found.entities, ready, { form, isStrict });
    const answer = written.write(text).join();
    return bounded(found.isList ? `[${answer}]` : answer);
  },

  /**
   * Compiles models and caches them. This takes longer than validating an entity.
   *
   * @throws {SchemaRefusedError | RangeError} for an unusable schema, which no stored one should be
   */
  compileModels({ models, schemas }: CompileInput): CompileOutcome {
    const compiled = compiledModels(models, schemas);
    if ('needs' in compiled) return compiled;
    return { areKept: models.every((one) => cachedModel(one) !== undefined) };
  },
};

export type ValidationTasks = typeof validationTasks;

function reportsOn(
  entities: readonly PlacedEntity[],
  models: readonly (EntityModel & { readonly model: Model })[],
  options: EntityOptions,
): Reports {
  const reports = new Reports();
  const spelling = new Spelling();
  const deprecations = new Set<string>();
  for (const { entity, path } of entities) {
    const types = new Set(typesOf(entity, options.form));
    const own = models.filter(({ byType }) => byType?.types.some((type) => types.has(type)) ?? true);
    const compiled = own.map(({ model }) => model);
    const verdict = verdictByModels(compiled, entity, options, spelling);
    const said = own.flatMap(({ deprecation }) => deprecation ?? []).filter((one) => !deprecations.has(one));
    for (const one of said) deprecations.add(one);
    const titles = own.flatMap(({ byType }) => byType?.title ?? []);
    reports.add(
      entity,
      { ...said.reduce(noticed, verdict), ...(titles.length === 0 ? {} : { models: titles }) },
      path,
    );
  }
  return reports;
}

/** Adds the warning that a model of the entity is deprecated. */
function noticed(verdict: EntityVerdict, deprecation: string): EntityVerdict {
  const notice = { tokens: [], code: 'deprecated-model', predicate: () => deprecation };
  return { ...verdict, warnings: [notice, ...verdict.warnings] };
}

/** The answer, or a refusal if its text is too long. */
function bounded(answer: string): TaskAnswer<ValidationRefusal['kind']> {
  if (answer.length <= MAX_ANSWER) return { answer };
  const detail = `The report has more than ${MAX_ANSWER} characters: send fewer entities at a time.`;
  return { refused: { kind: 'limitExceeded', detail, errors: [] } };
}

/** An example in key-values form, and its faults; there are none if a valid example was found. */
interface MadeExample {
  /** With the `@context` that the schema asks for, if any. */
  readonly example: JsonValue;
  readonly contextForm: ContextForm;
  readonly faults: readonly InputIssue[];
  /** The faults of the same entity in normalized form, as brokers accept it; see `normalizedExample`. */
  readonly normalizedFaults: readonly InputIssue[];
}

/**
 * What the schema accepts as the `@context` of the example: a list of the model's context and the core context, the URL of
 * the model's context alone, or only what the example has.
 */
export type ContextForm = 'list' | 'url' | 'own';

/** The input for an example of a model. */
export interface ExampleInput {
  /** Self-contained. */
  readonly schema: JsonObject;
  /** The name of the model: the type of the example unless the schema has another, and part of its id. */
  readonly entityType: string;
  /** The URL of the core context, which the example names if it can. */
  readonly coreContext?: string;
}

/** Tasks on examples that run in a worker because they compile schemas and execute patterns. */
export const exampleTasks = {
  /**
   * See {@link exampleFor}. The schema and the example are JSON texts, because exact numbers cannot be passed between
   * threads.
   */
  makeExample({ schema, ...input }: Omit<ExampleInput, 'schema'> & { readonly schema: string }) {
    const { example, ...others } = exampleFor({ ...input, schema: parsedSchema(schema) });
    return { example: JSON.stringify(example), ...others };
  },
};

/**
 * Makes an example of a model, as an entity in key-values form; see `generateExample`. If possible, it is valid in this
 * form and in normalized form. A schema and the kinds of its attributes may contradict each other, e.g. in a
 * Relationship that is a number. Such an attribute is left out if it can be; otherwise the example follows the schema
 * alone.
 */
export function exampleFor({ schema, entityType, coreContext = ANY_URL }: ExampleInput): MadeExample {
  const { root, targets, attributes } = cachedAttributesOf(schema);
  const model = prepareModel(entityType, schema);
  const validate = (example: JsonValue) =>
    model.firstFault(example) === undefined ? [] : faultsOf(model.flat, example);
  const preferred = preferredValues(attributes, entityType, model.types);
  const errorsOf = (entity: JsonObject): readonly ExampleFault[] =>
    validateInLikelyForm(entity, model, {}, new Spelling()).errors;
  const asKeyValues = (example: JsonValue) => [
    ...validate(example),
    ...(isObject(example) ? errorsOf(example) : [NO_OBJECT]),
  ];
  // Faults of the normalized form are within attributes, which have the same names in both.
  const asNormalized = (example: JsonValue) =>
    isObject(example) ? errorsOf(normalizedExample(example, attributes)) : [NO_OBJECT];
  const inBoth = (example: JsonValue) => [...asKeyValues(example), ...asNormalized(example)];
  let best = generateExample(root, targets, { preferred, check: inBoth });
  // There may be no valid entity, or none in normalized form. The example then shows at least what the schema asks
  // for.
  for (const check of [asKeyValues, validate])
    if (best.faults.length > 0) best = generateExample(root, targets, { preferred, check });
  const { example } = best;
  const accepts = (context: JsonValue) =>
    !isObject(example) || errorsOf({ ...example, '@context': context }).length === 0;
  const faults = asKeyValues(example);
  return {
    example,
    contextForm:
      !model.seesContext || faults.length > 0 || accepts([ANY_URL, coreContext])
        ? 'list'
        : accepts(ANY_URL)
          ? 'url'
          : 'own',
    faults: faults.map(issueOf),
    normalizedFaults: asNormalized(example).map(issueOf),
  };
}

/** Stands for the URL of the model's context. */
const ANY_URL = 'http://gateway.invalid/api/v2/contexts/domain~model';

const NO_OBJECT: ExampleFault = { tokens: [], predicate: () => 'must be an entity, an object' };

export type ExampleTasks = typeof exampleTasks;

function issueOf({ tokens, predicate }: ExampleFault): InputIssue {
  return { pointer: pointerOf(tokens), detail: predicate() };
}
