import { attributesOf } from './attributes.js';
import { compareSchemas, type ChangeReport } from './change-report.js';
import { SchemaRefusedError, type SchemaFault } from './errors.js';
import { exampleOf } from './example.js';
import type { Preferred } from './example-maker.js';
import type { JsonObject, JsonValue } from './json.js';
import { loopsOf } from './loops.js';
import { faultsOf } from './meta-check.js';
import { resolveWith } from './references.js';
import { createValidator } from './validator.js';

/** A schema with the documents that it refers to, by URI: plain data that can cross threads. */
export interface SchemaInput {
  readonly schema: JsonObject;
  readonly documents: readonly (readonly [uri: string, document: JsonValue])[];
}

export interface ExampleInput {
  /** Self-contained. */
  readonly schema: JsonObject;
  /** The type that the example shall have, and its id be made of. */
  readonly entityType: string;
}

/** An example, and what is wrong with it: nothing when one was found that validates. */
export interface MadeExample {
  readonly example: JsonValue;
  readonly faults: readonly SchemaFault[];
}

/** Two self-contained schemas. */
export interface CompareInput {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Tasks on schemas that are run in a worker, for they compile schemas or execute patterns. */
export const schemaTasks = {
  /** What keeps a schema from being compiled and used; nothing when it can be. */
  checkSchema({ schema, documents }: SchemaInput): readonly SchemaFault[] {
    try {
      const linked = resolveWith(schema, new Map(documents));
      const faults = faultsOf(linked);
      if (faults.length > 0) return faults;
      const loops = loopsOf(linked);
      if (loops.length > 0) return loops;
      createValidator(linked);
      return [];
    } catch (error) {
      return faultsOfFailure(error);
    }
  },

  /** An example of a model, as an entity in key-values form; see `exampleOf`. */
  makeExample({ schema, entityType }: ExampleInput): MadeExample {
    const check = createValidator(resolveWith(schema));
    const { example, faults } = exampleOf(schema, { preferred: preferredFor(schema, entityType), check });
    return {
      example,
      faults: faults.map(({ instancePath, message }) => ({
        pointer: instancePath,
        detail: message ?? 'is not valid',
      })),
    };
  },

  /** What changes between two versions; see `compareSchemas`. */
  compareSchemas({ before, after }: CompareInput): ChangeReport {
    return compareSchemas(before, after);
  },
};

export type SchemaTasks = typeof schemaTasks;

function faultsOfFailure(error: unknown): readonly SchemaFault[] {
  if (error instanceof SchemaRefusedError) return error.errors;
  if (error instanceof RangeError)
    return [{ pointer: '', detail: 'schemas are within each other, or refer to each other, too deeply' }];
  const reason = error instanceof Error ? error.message : String(error);
  return [{ pointer: '', detail: `cannot be compiled: ${reason}` }];
}

/** What an entity has beside what its schema asks for: an id, its type, and URIs where it refers to others. */
function preferredFor(schema: JsonObject, entityType: string): Preferred {
  const relationships = attributesOf(schema).attributes.filter(({ kind }) => kind === 'Relationship');
  return new Map<string, readonly JsonValue[]>([
    ['id', [uriOf(entityType)]],
    ['type', [entityType, [entityType]]],
    ...relationships.map(({ name }) => [name, [uriOf(typeFor(name)), [uriOf(typeFor(name))]]] as const),
  ]);
}

function uriOf(type: string): string {
  return `urn:ngsi-ld:${type}:001`;
}

/** The type that the name of a relationship suggests: `refDevice` and `hasDevice` lead to a Device. */
function typeFor(name: string): string {
  const word = name.replace(/^(?:ref|has|is)(?=[A-Z])/, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return word === '' ? 'Entity' : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
