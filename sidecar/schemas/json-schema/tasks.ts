import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import type { InputIssue } from '../../shared/json/pointer.js';
import { attributesOf } from './attributes.js';
import { type ChangeReport, compareSchemas } from './change-report.js';
import type { Preferred } from './example-maker.js';
import { exampleOf } from './example.js';
import { resolveWith } from './references.js';
import { createValidator } from './validator.js';

export interface ExampleInput {
  /** Self-contained. */
  readonly schema: JsonObject;
  /** The type of the example, which is also part of its id. */
  readonly entityType: string;
}

/** An example, and what is wrong with it: nothing when one was found that validates. */
export interface MadeExample {
  readonly example: JsonValue;
  readonly faults: readonly InputIssue[];
}

/** Texts of two self-contained schemas. */
export interface CompareInput {
  readonly before: string;
  readonly after: string;
}

/** Tasks on schemas that run in a worker because they compile schemas or execute patterns. */
export const schemaTasks = {
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
    return compareSchemas(JSON.parse(before) as JsonObject, JSON.parse(after) as JsonObject);
  },
};

export type SchemaTasks = typeof schemaTasks;

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
