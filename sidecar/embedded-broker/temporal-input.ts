import { readInstance } from './attribute-input.js';
import { readFragment } from './entity-input.js';
import { isJsonObject, itemsOf } from './model.js';
import type { Json, JsonObject } from './model.js';
import { refusals } from './refusal.js';

/** A temporal entity, or a part of one, as a client sends it: instances by attribute. */
export interface TemporalContent {
  readonly id: string;
  readonly types: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly attributes: readonly (readonly [name: string, bodies: readonly JsonObject[]])[];
}

/**
 * Reads a temporal entity (clause 5.2.20), normalized or concise: each attribute is an array of instances, or one
 * instance. What only the broker sets, such as instanceId and createdAt, is ignored.
 *
 * @throws Refusal BadRequestData
 */
export function readTemporalEntity(input: unknown): TemporalContent {
  const content = readTemporalFragment(input);
  if (content.id === undefined) throw refusals.badRequest('A temporal entity needs an id');
  return { ...content, id: content.id };
}

/** Reads a part of a temporal entity, which need not have an id. @throws Refusal BadRequestData */
export function readTemporalFragment(
  input: unknown,
): Omit<TemporalContent, 'id'> & { readonly id: string | undefined } {
  const { attributes, ...rest } = readFragment(input);
  return { ...rest, attributes: attributes.map(([name, value]) => [name, readHistory(name, value)]) };
}

function readHistory(name: string, input: Json): readonly JsonObject[] {
  const instances = itemsOf(input);
  // Unlike the value of a concise Property, instances are always objects here: an array can only be of instances.
  if (instances.length === 0 || !instances.every(isJsonObject)) {
    throw refusals.badRequest(`Attribute ${name} must be an instance, or an array of one or more instances`);
  }
  return instances.map((instance) => readInstance(name, instance));
}
