import type { AttributeKind } from '../../ngsi-ld/attribute-kinds.js';
import { DIALECT_URIS } from '../json-schema/dialect.js';
import { SchemaLimitError } from '../json-schema/errors.js';
import { member, stringsOf, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { resolveWith } from '../json-schema/references.js';
import { Annotations } from './annotations.js';
import { typeFault, typeSchema, withLocalNames } from './entity-type.js';
import { tooRich } from './errors.js';
import { Observer, type Meaning } from './observe.js';
import { Renderer } from './render.js';
import { emptyShape, noObjects, typesIn, type Shape } from './shape.js';
import { without } from './without.js';

export interface InferenceOptions {
  /** Lists the strings of places that have few of them. */
  readonly enumerates?: boolean;
  /** The name of the model, which is the type of its entities; every sample that has a `type` has this one. */
  readonly model?: string;
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

/** A sample's `@context` says what names mean, and is no part of what the entity is. */
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
    this.#observer = new Observer({ enumerates });
    if (model === undefined) return;
    const id = emptyShape();
    this.#observer.see(id, ANY_ID, 1, 'reference');
    this.#root.members?.set('id', id);
    this.#root.members?.set('type', emptyShape());
  }

  /**
   * @returns what is wrong with the sample's `type`; then it does not count. Undefined when it was added.
   * @throws {SamplesTooRichError} when the samples have more attributes than a schema may
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

  /** The schema of the samples so far, of which there is at least one. @throws {SamplesTooRichError} */
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
    if (!(error instanceof SchemaLimitError)) throw error;
    throw tooRich(error.errors.map(({ detail }) => detail).join(', '), error);
  }
}
