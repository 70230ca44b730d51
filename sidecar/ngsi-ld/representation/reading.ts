import type { AttributeKind } from '../members.js';
import type { JsonObject } from '../../shared/json/json.js';
import type { EntityWarning, Finding } from './findings.js';
import type { Form } from './form.js';

/** One view of an entity in key-values form (clause 4.5.4), to be held against a schema. */
export interface Reading {
  /** Without `@context`. `@id` and `@type` are `id` and `type`. What could not be converted is there as submitted. */
  readonly keyValues: JsonObject;
  /**
   * Where something in `keyValues` stands in the entity as submitted. A member that is not there stands below where its
   * object does.
   */
  readonly locate: (tokens: readonly string[]) => readonly string[];
  /** Set for further instances of an attribute (datasetId); all other attributes are as in the first reading. */
  readonly attribute?: string;
  /** Where that instance stands in the entity as submitted. */
  readonly instance?: readonly string[];
}

/** The result of reading an entity, independent of its model. */
export interface EntityReading {
  readonly form: Form;
  /** In document order, one for each fault; at most {@link MAX_FINDINGS}. */
  readonly faults: readonly Finding[];
  readonly warnings: readonly EntityWarning[];
  /** First the one with all attributes in their default instance, or first; then one for each further instance. */
  readonly readings: readonly [Reading, ...Reading[]];
  /** Attributes with more instances than are read. */
  readonly leftOut: readonly LeftOut[];
  /** What kind each attribute was sent as, its default instance if there are several. Empty in key-values form. */
  readonly kinds: ReadonlyMap<string, AttributeKind>;
}

/** An attribute with more instances than are read. */
export interface LeftOut {
  readonly attribute: string;
  /** How many are read, the one in the first reading included. */
  readonly read: number;
}
