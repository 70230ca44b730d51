import type { AttributeKind } from '../members.js';
import type { JsonObject } from '../../shared/json/json.js';
import type { EntityWarning, Finding } from './findings.js';
import type { Form } from './form.js';

/** One view of an entity in key-values form (clause 4.5.4), to be validated against a schema. */
export interface Reading {
  /**
   * Without `@context`; `@id` and `@type` become `id` and `type`. Anything that could not be converted is included as
   * submitted.
   */
  readonly keyValues: JsonObject;
  /**
   * Maps a place in `keyValues` to its place in the entity as submitted. A missing member is mapped to a place below
   * that of its object.
   */
  readonly locate: (tokens: readonly string[]) => readonly string[];
  /** Set for further instances of an attribute (datasetId); all other attributes are the same as in the first reading. */
  readonly attribute?: string;
  /** The place of that instance in the entity as submitted. */
  readonly instance?: readonly string[];
}

/** The result of reading an entity, independent of its model. */
export interface EntityReading {
  readonly form: Form;
  /** In document order, one entry per fault; at most 1000. */
  readonly faults: readonly Finding[];
  readonly warnings: readonly EntityWarning[];
  /** First a reading with the default (or else first) instance of every attribute, then one reading for each further instance. */
  readonly readings: readonly [Reading, ...Reading[]];
  /** Attributes with more instances than are read. */
  readonly omitted: readonly OmittedInstances[];
  /** The kind of each attribute as sent, that of its default instance if there are several. Empty in key-values form. */
  readonly kinds: ReadonlyMap<string, AttributeKind>;
}

/** An attribute with more instances than are read. */
export interface OmittedInstances {
  readonly attribute: string;
  /** Number of instances that are read, including the one in the first reading. */
  readonly read: number;
}
