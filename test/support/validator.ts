import { type Fault, faultsOf } from '../../sidecar/schemas/json-schema/explain.js';
import type { LinkedSchema } from '../../sidecar/schemas/json-schema/linker.js';
import { compileSchema } from '../../sidecar/schemas/json-schema/validator.js';
import { type JsonValue, pointerOf } from '../../sidecar/shared/json/json.js';

/** Compiles a schema to a validator that finds every fault of a document, each with the pointer to its place. */
export function createValidator(
  linked: LinkedSchema,
): (document: JsonValue) => readonly (Fault & { readonly instancePath: string })[] {
  const { flat, firstFault } = compileSchema(linked);
  return (document) =>
    (firstFault(document) === undefined ? [] : faultsOf(flat, document)).map((one) => ({
      ...one,
      instancePath: pointerOf(one.tokens),
    }));
}
