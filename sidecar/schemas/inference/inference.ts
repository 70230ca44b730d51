import type { AttributeKind } from '../../ngsi-ld/members.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import {
  isArray,
  type JsonObject,
  type JsonValue,
  member,
  stringsOf,
  without,
} from '../../shared/json/json.js';
import { SchemaRefusedError } from '../json-schema/errors.js';
import { DIALECT_URIS } from '../json-schema/keywords.js';
import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { resolveWith } from '../json-schema/linker.js';
import { tooRich } from './errors.js';
import { type Meaning, Observer } from './observe.js';
import { Annotations, Renderer } from './render.js';
import { emptyShape, noObjects, type Shape, typesIn } from './shape.js';
import { cut } from '../../shared/shown.js';

export interface InferenceOptions {
  /** Lists the strings of places that have few of them. */
  readonly enumerates?: boolean;
  /** The name of the model, which is the type of its entities; every sample that has a `type` has this one. */
  readonly model?: string | undefined;
}

/** One sample in key-values form, with what is known of its attributes. */
export interface Sample {
  readonly keyValues: JsonObject;
  /** Values that attributes have beside those in `keyValues`, in further instances. */
  readonly instances?: readonly (readonly [attribute: string, value: JsonValue])[];
  readonly kinds?: ReadonlyMap<string, AttributeKind>;
  /** The unit codes of all instances of an attribute; undefined among them for an instance that has none. */
  readonly units?: ReadonlyMap<string, ReadonlySet<string | undefined>>;
}

/** A sample's `@context` says what names mean. It is not part of the entity. */
const CONTEXT: ReadonlySet<string> = new Set(['@context']);

/** The id that stands for all ids in the schema of a model without one. */
const ANY_ID = 'urn:ngsi-ld:any';

/** Infers a schema from samples that are added one after another; see {@link inferSchema} for what it promises. */
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
    this.#observer.see(id, ANY_ID, 1, 'reference');
    this.#root.members?.set('id', id);
    this.#root.members?.set('type', emptyShape());
  }

  /**
   * @returns what is wrong with the sample's `type`; then it does not count. Undefined when it was added.
   * @throws {SamplesRefusedError} when the samples have more attributes than a schema may
   */
  add({ keyValues, instances = [], kinds = new Map(), units = new Map() }: Sample): string | undefined {
    const fault = this.#model === undefined ? undefined : typeFault(member(keyValues, 'type'), this.#model);
    if (fault !== undefined) return fault;
    const meaningOf = (name: string): Meaning =>
      name === 'type' ? 'name' : name === 'id' || isReference(kinds.get(name)) ? 'reference' : undefined;
    this.#observer.seeMembers(
      this.#root,
      without(keyValues, CONTEXT),
      0,
      SCHEMA_LIMITS.subschemas,
      meaningOf,
    );
    // Validation shows a schema the one of several types that is the model.
    const types = stringsOf(member(keyValues, 'type')).map((type) => ['type', type] as const);
    for (const [name, value] of [...types, ...instances]) {
      const known = this.#root.members?.get(name);
      if (known !== undefined) this.#observer.see(known, value, 1, meaningOf(name));
    }
    if (this.#root.members === undefined)
      throw tooRich(`more than ${SCHEMA_LIMITS.subschemas} different attributes`);
    this.#annotations.add(kinds, units);
    return undefined;
  }

  /** The schema of the samples so far, of which there is at least one. @throws {SamplesRefusedError} */
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

  /** Samples with an id and a type each are entities: the types are listed as long as they are few. */
  #typeSchema(shape: Shape, renderer: Renderer): JsonObject {
    if (this.#model !== undefined) return typeSchema(this.#model, typesIn(shape.types).includes('array'));
    const areEntities = ['id', 'type'].every(
      (name) => this.#root.members?.get(name)?.count === this.#root.others,
    );
    const schema = renderer.schemaOf(shape, areEntities || this.#enumerates);
    return withLocalNames(schema);
  }
}

/** An attribute that is null in key-values form is none at all in the other representations (clause 4.5). */
function wasNull({ types }: Shape): boolean {
  return typesIn(types).includes('null');
}

function isReference(kind: AttributeKind | undefined): boolean {
  return kind === 'Relationship' || kind === 'ListRelationship';
}

/** What cannot become a model is not given. */
function checkLimits(schema: JsonObject): void {
  try {
    resolveWith(schema);
  } catch (error) {
    if (!(error instanceof SchemaRefusedError) || error.kind !== 'schemaTooLarge') throw error;
    throw tooRich(error.errors.map(({ detail }) => detail).join(', '), error);
  }
}

const MAX_SHOWN_LENGTH = 100;

/** What keeps a sample from being one of the model, whose name is among the types of its entities; undefined for nothing. */
function typeFault(type: JsonValue | undefined, model: string): string | undefined {
  if (type === undefined || type === model) return undefined;
  if (isArray(type) && type.includes(model) && type.every((name) => typeof name === 'string'))
    return undefined;
  const found = cut(JSON.stringify(type), MAX_SHOWN_LENGTH);
  return `must be "${model}", or a list of types with it; found ${found}`;
}

/** The schema of the member `type` of a model's entities. */
function typeSchema(model: string, hasLists: boolean): JsonObject {
  const alone = { const: model };
  if (!hasLists) return alone;
  return { anyOf: [alone, { type: 'array', items: { type: 'string' }, contains: alone }] };
}

/**
 * A schema of `type` that lists types, with the names that IRIs among them end in: validation shows a schema the name of
 * its model where an entity has the IRI. Any other schema as it is.
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
