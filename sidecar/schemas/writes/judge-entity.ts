import { guessForm } from '../../ngsi-ld/representation/form.js';
import { isArray, isObject, type JsonObject, type JsonValue, objectOf } from '../../shared/json/json.js';
import type { EntityError } from '../validation/validate-entity.js';
import { validateEntity } from '../validation/validate-entity.js';
import type { Model } from '../validation/model.js';
import type { Spelling } from '../json-schema/spelling.js';
import { isDeleted, isOnlyDeleted, type Remaining, withoutDeletedParts } from './deletions.js';
import { nestedAttributeErrors } from './nested-attributes.js';
import { isWithoutValue, type RenamedEntity, renameForModel, type SubmittedEntity } from './submitted.js';
import type { WriteModel } from './write-models.js';

/** How to judge an entity. */
export interface JudgeOptions {
  /** Whether attributes may be plain values, even if these look like attributes. */
  readonly isSimplified: boolean;
  /** What urn:ngsi-ld:null is certain to delete. Elsewhere a broker may store that text. */
  readonly deletes: 'nothing' | 'attributes' | 'attributes and parts';
  /** Whether attributes may be written without their values, which then stay unchanged. */
  readonly isPartial: boolean;
  /** Whether objects are merged into existing ones, so that no member is required in them. */
  readonly isMerge: boolean;
  /** Whether attributes are lists of instances over time. */
  readonly isTemporal: boolean;
}

/** An error, and the model that the entity violates. */
export interface WriteError extends EntityError {
  readonly model: string;
}

/** Maximum number of slices judged of a temporal entity: the number of instances that an attribute may have. */
const MAX_SLICES = 5000;

/** The errors of a whole entity, by each of the models. */
export function judgeWhole(
  models: readonly WriteModel[],
  submitted: SubmittedEntity,
  options: JudgeOptions,
  spelling: Spelling,
): readonly WriteError[] {
  return models.flatMap((model) => {
    const renamed = renameForModel(model, submitted);
    const { entity, positions } = withoutOmitted(renamed.entity, isNotJudged(options));
    const kept = { ...renamed, entity, positions, context: submitted.context };
    const aliased = aliasErrors(model, submitted);
    const meant = (error: WriteError) => withMeanings(error, model, submitted);
    if (!options.isTemporal)
      return [...aliased, ...errorsOf(model, model.whole, kept, options, spelling).map(meant)];
    const [first, ...others] = slicesOf(entity);
    return [
      ...aliased,
      ...errorsOf(
        model,
        model.whole,
        { ...kept, entity: first?.entity ?? entity },
        options,
        spelling,
        first?.indexes,
      ).map(meant),
      ...others.flatMap(({ entity: one, indexes }) =>
        errorsOf(model, model.fragment, { ...kept, entity: one }, options, spelling, indexes),
      ),
    ];
  });
}

/** Explains that a missing attribute is there by name, but with another meaning, or only to be deleted. */
function withMeanings(error: WriteError, model: WriteModel, { members }: SubmittedEntity): WriteError {
  const { missing, tokens } = error;
  const other = tokens.length > 0 ? undefined : members.find(({ name }) => name === missing);
  if (other === undefined) return error;
  const [iri = ''] = [...model.attributes].find(([, name]) => name === missing) ?? [];
  const why =
    other.iri === iri
      ? 'the write only deletes it'
      : `by the @context of the write, its "${other.name}" is ${other.iri}, and that of the model is ${iri}`;
  return { ...error, predicate: () => `${error.predicate()}: ${why}` };
}

/** The errors of some attributes of an entity, by each of the models, whatever the entity's other attributes are. */
export function judgeFragment(
  models: readonly WriteModel[],
  submitted: SubmittedEntity,
  options: JudgeOptions,
  spelling: Spelling,
): readonly WriteError[] {
  return models.flatMap((model) => {
    const [type = model.whole.name] = model.whole.types;
    const renamed = renameForModel(model, submitted, type);
    const deleted = Object.keys(renamed.entity).filter(
      (name) => model.required.has(name) && isDeleted(renamed.entity[name] ?? null),
    );
    const { entity: judged, positions } = withoutOmitted(renamed.entity, isNotJudged(options));
    const remaining: Remaining =
      options.deletes === 'attributes and parts'
        ? withoutDeletedParts(judged, options.isMerge)
        : { entity: judged, isPartDeleted: () => false };
    const entity = { ...remaining.entity, id: FRAGMENT_ID, type };
    const slices = options.isTemporal ? slicesOf(entity) : [{ entity, indexes: undefined }];
    const found = slices.flatMap((slice) =>
      errorsOf(
        model,
        model.fragment,
        { ...renamed, ...remaining, positions, entity: slice.entity },
        options,
        spelling,
        slice.indexes,
      ),
    );
    // Depending on the broker, a partial update replaces a value or merges it.
    const merged =
      options.deletes === 'attributes and parts' && !options.isMerge
        ? withoutDeletedParts(judged, true)
        : undefined;
    const ifMerged =
      merged === undefined || merged.entity === judged
        ? []
        : errorsOf(
            model,
            model.fragment,
            { ...renamed, ...merged, positions, entity: { ...merged.entity, id: FRAGMENT_ID, type } },
            { ...options, isMerge: true },
            spelling,
          ).filter(({ keyword }) => keyword === 'required');
    return [
      ...deleted.map((name) => ({
        model: model.title,
        tokens: [renamed.submittedAs.get(name) ?? name],
        keyword: 'required',
        predicate: () => NOT_DELETED,
      })),
      ...aliasErrors(model, submitted),
      ...[...found, ...ifMerged].filter(({ tokens: [name] }) => name !== 'id' && name !== 'type'),
    ];
  });
}

const NOT_DELETED = 'must not be deleted: every entity of the model has it';

/** Returns which attributes, and which of their instances, are not judged. */
function isNotJudged({ deletes, isPartial }: JudgeOptions): (value: JsonValue) => boolean {
  return (value) => (deletes !== 'nothing' && isOnlyDeleted(value)) || (isPartial && isWithoutValue(value));
}

/**
 * Stands for the id of the entity that a fragment belongs to: models may restrict ids, but a fragment does not change
 * them.
 */
const FRAGMENT_ID = 'urn:ngsi-ld:fragment:1';

/** Attributes and values that brokers may find under other names than a model does. */
function aliasErrors({ title }: WriteModel, { members, repeated }: SubmittedEntity): readonly WriteError[] {
  const twice = repeated.map((name) => ({
    model: title,
    tokens: [name],
    keyword: 'additionalProperties',
    predicate: () =>
      'must not be present: another member means the same, and brokers differ in which one they use',
  }));
  const values = members.flatMap(({ name, valueAlias }) =>
    valueAlias === undefined
      ? []
      : {
          model: title,
          tokens: [name, valueAlias],
          keyword: 'additionalProperties',
          predicate: () =>
            'must not be present: brokers differ in whether they use it as the value of the attribute',
        },
  );
  return [...twice, ...values];
}

/** The errors of an entity by a model, in each form in which a broker may read the entity. */
function errorsOf(
  { title, fragment }: WriteModel,
  model: Model,
  { entity, submittedAs, positions, isPartDeleted, context }: JudgedEntity,
  { isSimplified, isMerge }: JudgeOptions,
  spelling: Spelling,
  indexes?: ReadonlyMap<string, number>,
): readonly WriteError[] {
  const guess = isSimplified ? guessForm(Object.entries(entity)) : undefined;
  const forms = !isSimplified
    ? (['concise'] as const)
    : guess === 'keyvalues' || (guess === 'normalized' && hasNoAttributes(entity))
      ? (['keyvalues'] as const)
      : (['keyvalues', 'concise'] as const);
  const seen = new Set<string>();
  const shown =
    context === undefined ? entity : objectOf([...Object.entries(entity), ['@context', context] as const]);
  return forms.flatMap((form) => {
    const { errors, warnings } = validateEntity(shown, model, { form }, spelling);
    return [...errors, ...nestedAttributeErrors(shown, fragment, { warnings, form }, spelling)].flatMap(
      (found) => {
        const error = isMerge && found.keyword === 'required' ? asDeletionError(found, isPartDeleted) : found;
        if (error === undefined) return [];
        const [name = '', ...below] = error.tokens;
        const index = indexes?.get(name);
        const inner = index === undefined ? below : [String(index), ...below];
        const kept = positions.get(name);
        const tokens = [
          ...(error.tokens.length === 0 ? [] : [submittedAs.get(name) ?? name]),
          ...(kept === undefined
            ? inner
            : inner.map((token, at) => (at === 0 ? String(kept[+token]) : token))),
        ];
        const key = JSON.stringify([tokens, error.keyword]);
        if (seen.has(key)) return [];
        seen.add(key);
        return [{ ...error, tokens, model: title }];
      },
    );
  });
}

/** A required member that a merge does not have is already stored, unless the merge deletes it. */
function asDeletionError(
  error: EntityError,
  isPartDeleted: JudgedEntity['isPartDeleted'],
): EntityError | undefined {
  const { tokens, missing } = error;
  if (missing === undefined || isPartDeleted?.(tokens, missing) !== true) return undefined;
  return { ...error, tokens: [...tokens, missing], predicate: () => NOT_DELETED };
}

function hasNoAttributes(entity: JsonObject): boolean {
  return Object.keys(entity).every((name) => name === 'id' || name === 'type');
}

interface JudgedEntity extends RenamedEntity, Partial<Pick<Remaining, 'isPartDeleted'>> {
  /** The original indexes of the instances, for attributes of which some instances are not judged. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
  /** The `@context` of a whole entity. */
  readonly context?: JsonValue | undefined;
}

/** The entity without the attributes and instances that are not judged; the same object if there are none. */
function withoutOmitted(
  entity: JsonObject,
  isOmitted: (value: JsonValue) => boolean,
): Pick<JudgedEntity, 'entity' | 'positions'> {
  const positions = new Map<string, readonly number[]>();
  const kept = Object.entries(entity).flatMap(([name, value]): readonly (readonly [string, JsonValue])[] => {
    if (name === 'id' || name === 'type') return [[name, value]];
    const isLeft = isOmitted(value);
    const isPartlyLeft = !isLeft && isArray(value) && value.some((one) => isObject(one) && isOmitted(one));
    if (!isPartlyLeft) return isLeft ? [] : [[name, value]];
    const at = [...value.keys()].filter((index) => {
      const one = value[index] ?? null;
      return !isObject(one) || !isOmitted(one);
    });
    positions.set(name, at);
    return [[name, at.map((index) => value[index] ?? null)]];
  });
  const isWhole = positions.size === 0 && kept.length === Object.keys(entity).length;
  return { entity: isWhole ? entity : objectOf(kept), positions };
}

interface Slice {
  readonly entity: JsonObject;
  /** Indexes of the instances, by attribute. */
  readonly indexes: ReadonlyMap<string, number>;
}

/** Splits a temporal entity into slices, in each of which an attribute has one of its instances. */
function slicesOf(entity: JsonObject): readonly Slice[] {
  const entries = Object.entries(entity);
  const isSeries = ([name, value]: readonly [string, JsonValue]) =>
    name !== 'id' && name !== 'type' && isArray(value) && value.some(isObject);
  const length = (value: JsonValue) => (isArray(value) ? value.length : 1);
  const most = Math.max(1, ...entries.map((entry) => (isSeries(entry) ? length(entry[1]) : 1)));
  if (most > MAX_SLICES) throw new RangeError(`An attribute has more than ${MAX_SLICES} instances.`);
  return Array.from({ length: most }, (_, at) => {
    const indexes = new Map<string, number>();
    const shown = entries.flatMap((entry): readonly (readonly [string, JsonValue])[] => {
      const [name, value] = entry;
      if (!isSeries(entry)) return at === 0 || name === 'id' || name === 'type' ? [entry] : [];
      const instance = isArray(value) ? value[at] : undefined;
      if (instance === undefined) return [];
      indexes.set(name, at);
      return [[name, instance]];
    });
    return { entity: objectOf(shown), indexes };
  });
}
