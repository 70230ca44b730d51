import { faultsOf } from '../../sidecar/schemas/json-schema/explain.js';
import type { LinkedSchema } from '../../sidecar/schemas/json-schema/linker.js';
import { compileSchema, type Validate } from '../../sidecar/schemas/json-schema/validator.js';

/** Compiles a schema to a validator that finds every fault of a document. */
export function createValidator(linked: LinkedSchema): Validate {
  const { flat, validate } = compileSchema(linked);
  return (document) => (validate(document).length === 0 ? [] : faultsOf(flat, document));
}
