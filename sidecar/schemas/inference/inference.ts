import type { AttributeKind } from '../../ngsi-ld/members.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import {
  isArray,
  type JsonObject,
  type JsonValue,
  member,
  stringsOf,
  omitMembers,
} from '../../shared/json/json.js';
import { SchemaRefusedError } from '../json-schema/errors.js';
import { DIALECT_URIS } from '../json-schema/keywords.js';
import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { resolveReferencesIn } from '../json-schema/linker.js';
import { limitExceeded } from './errors.js';
import { type Meaning, Observer } from './observe.js';
import { Annotations, Renderer } from './render.js';
import { emptyShape, noObjects, type Shape, typesIn } from './shape.js';
import { truncate } from '../../shared/format-value.js';

/** What an inferred schema enumerates, and the model that the samples must belong to. */
export interface InferenceOptions {
  /** Whether to enumerate the strings of places that have only a few. */
  readonly enumerates?: boolean;
  /** The name of the model, which is the type of its entities; every sample that has a `type` must have this one. */
  readonly model?: string | undefined;
}

/** One sample in key-values form, with what is known about its attributes. */
export interface Sample {
  readonly keyValues: JsonObject;
  /** Further values of attributes, besides those in `keyValues`: those of further instances. */
  readonly instances?: readonly (readonly [attribute: string, value: JsonValue])[];
  readonly kinds?: ReadonlyMap<string, AttributeKind>;
  /** The unit codes of all instances of an attribute; includes undefined if an instance has none. */
  readonly units?: ReadonlyMap<string, ReadonlySet<string | undefined>>;
}

/** The `@context` of a sample defines the meaning of names. It is not part of the entity. */
const CONTEXT: ReadonlySet<string> = new Set(['@context']);

/** An id to infer from, so that the schema of a model describes `id` even if no sample has one. */
const ANY_ID = 'urn:ngsi-ld:any';

/** Infers a schema from samples that are added one by one; see {@link inferSchema} for its guarantees. */
export class Inference {
  readonly #model: string | undefined;
  readonly #enumerates: boolean;
  readonly #observer: Observer;
  readonly #root = noObjects();
  readonly #annotations = new Annotations();

  constructor({ model, enumerates = false }: InferenceOptions = {}) {
    this.#model = model;
    this.#enumerates = enumerates;
    this.#observer = new Observer(enumerates);
    if (model === undefined) return;
    const id = emptyShape();
    this.#observer.observe(id, ANY_ID, 1, 'reference');
    this.#root.members?.set('id', id);
    this.#root.members?.set('type', emptyShape());
  }

  /**
   * Adds a sample.
   *
   * @returns the fault of the sample's `type`, in which case it is not added; otherwise undefined
   * @throws {SamplesRefusedError} if the samples have more attributes than a schema may have
   */
  add({ keyValues, instances = [], kinds = new Map(), units = new Map() }: Sample): string | undefined {
    const fault = this.#model === undefined ? undefined : typeFault(member(keyValues, 'type'), this.#model);
    if (fault !== undefined) return fault;
    const meaningOf = (name: string): Meaning =>
      name === 'type' ? 'name' : name === 'id' || isReference(kinds.get(name)) ? 'reference' : undefined;
    this.#observer.observeMembers(
      this.#root,
      omitMembers(keyValues, CONTEXT),
      0,
      SCHEMA_LIMITS.subschemas,
      meaningOf,
    );
    // In validation, a schema sees only the one of several types that is the model's.
    const types = stringsOf(member(keyValues, 'type')).map((type) => ['type', type] as const);
    for (const [name, value] of [...types, ...instances]) {
      const known = this.#root.members?.get(name);
      if (known !== undefined) this.#observer.observe(known, value, 1, meaningOf(name));
    }
    if (this.#root.members === undefined)
      throw limitExceeded(`more than ${SCHEMA_LIMITS.subschemas} different attributes`);
    this.#annotations.add(kinds, units);
    return undefined;
  }

  /** Returns the schema of the samples so far; there must be at least one. @throws {SamplesRefusedError} */
  schema(): JsonObject {
    const renderer = new Renderer();
    const members = renderer.members(
      this.#root,
      (name, shape) =>
        name === 'type'
          ? this.#typeSchema(shape, renderer)
          : this.#annotations.annotated(name, shape, renderer.schemaOf(shape, this.#enumerates)),
      wasNull,
    );
    const schema = {
      $schema: DIALECT_URIS['2020-12'],
      ...(this.#model !== undefined && { title: this.#model }),
      type: 'object',
      ...members,
      ...(renderer.definitions && { $defs: renderer.definitions }),
    };
    checkLimits(schema);
    return schema;
  }

  /** If all samples have an id and a type, they are entities, and their types are listed as long as there are only a few. */
  #typeSchema(shape: Shape, renderer: Renderer): JsonObject {
    if (this.#model !== undefined) return typeSchema(this.#model, typesIn(shape.types).includes('array'));
    const areEntities = ['id', 'type'].every(
      (name) => this.#root.members?.get(name)?.count === this.#root.others,
    );
    const schema = renderer.schemaOf(shape, areEntities || this.#enumerates);
    return withLocalNames(schema);
  }
}

/** Whether an attribute was null in key-values form; in the other representations, it does not exist then (clause 4.5). */
function wasNull({ types }: Shape): boolean {
  return typesIn(types).includes('null');
}

function isReference(kind: AttributeKind | undefined): boolean {
  return kind === 'Relationship' || kind === 'ListRelationship';
}

/** Refuses a schema that could not become a model. */
function checkLimits(schema: JsonObject): void {
  try {
    resolveReferencesIn(schema);
  } catch (error) {
    if (!(error instanceof SchemaRefusedError) || error.kind !== 'schemaTooLarge') throw error;
    throw limitExceeded(error.errors.map(({ detail }) => detail).join(', '), error);
  }
}

const MAX_SHOWN_LENGTH = 100;

/** Returns why a sample is not an entity of the model, whose name must be among its types; undefined if it is one. */
function typeFault(type: JsonValue | undefined, model: string): string | undefined {
  if (type === undefined || type === model) return undefined;
  if (isArray(type) && type.includes(model) && type.every((name) => typeof name === 'string'))
    return undefined;
  const found = truncate(JSON.stringify(type), MAX_SHOWN_LENGTH);
  return `must be "${model}", or a list of types that contains it; found ${found}`;
}

/** Returns the schema of the member `type` of a model's entities. */
function typeSchema(model: string, hasLists: boolean): JsonObject {
  const alone = { const: model };
  if (!hasLists) return alone;
  return { anyOf: [alone, { type: 'array', items: { type: 'string' }, contains: alone }] };
}

/**
 * Adds the last part of each IRI to a schema of `type` that lists types, because in validation a schema sees the name
 * of its model even if the entity has the IRI. Any other schema is returned unchanged.
 */
function withLocalNames(schema: JsonObject): JsonObject {
  const listed = member(schema, 'enum');
  if (!isArray(listed)) return schema;
  const names = listed.filter((type) => typeof type === 'string');
  const all = new Set([...names, ...names.map(localName).filter((name) => name !== '')]);
  const types = [...[...all].sort(), ...listed.filter((type) => type === null)];
  const [only] = types;
  return only !== undefined && types.length === 1 ? { const: only } : { ...schema, enum: types };
}
