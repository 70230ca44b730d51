import { GatewayError } from '../../shared/errors.js';
import { pointerOf, type InputIssue } from '../../shared/json/pointer.js';

/** Says where a fault is, from the tokens of a JSON pointer into the document at hand. */
export type Blame = (tokens: readonly string[], detail: string) => InputIssue;

/** The document at hand is the submitted schema itself. */
export const blameSubmitted: Blame = (tokens, detail) => ({ pointer: pointerOf(tokens), detail });

/** A schema that cannot be accepted; every fault found is listed. */
export abstract class SchemaRefusedError extends GatewayError {
  constructor(
    summary: string,
    readonly errors: readonly InputIssue[],
    options?: ErrorOptions,
  ) {
    super(summary, options);
  }
}

/** The schema, or a document it refers to, is of a draft that is not supported. */
export class UnsupportedDialectError extends SchemaRefusedError {
  readonly code = 'SCHEMA_DIALECT_UNSUPPORTED';
}

/** The schema is larger than this service takes. */
export class SchemaLimitError extends SchemaRefusedError {
  readonly code = 'SCHEMA_LIMIT_EXCEEDED';
}

/** References that lead nowhere: documents that are not there, and places that documents do not have. */
export class DanglingReferenceError extends SchemaRefusedError {
  readonly code = 'SCHEMA_REFERENCE_DANGLING';

  /** @param missingUris every document that is not there, by absolute URI without fragment */
  constructor(
    errors: readonly InputIssue[],
    readonly missingUris: readonly string[],
  ) {
    super(
      missingUris.length === 0
        ? 'References of the schema lead nowhere.'
        : `Documents that the schema refers to are missing: ${missingUris.join(', ')}`,
      errors,
    );
  }
}

/** A keyword holds a value it may not have, or a pattern is not a regular expression. */
export class InvalidSchemaError extends SchemaRefusedError {
  readonly code = 'SCHEMA_INVALID';
}

/** Valid in its own draft, but with no counterpart in a 2020-12 compound document. */
export class NotConvertibleError extends SchemaRefusedError {
  readonly code = 'SCHEMA_NOT_CONVERTIBLE';
}
