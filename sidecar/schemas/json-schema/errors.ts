import { GatewayError } from '../../shared/errors.js';
import { pointerOf, type InputIssue } from '../../shared/json/json.js';

/** Says where a fault is, from the tokens of a JSON pointer into the document at hand. */
export type Blame = (tokens: readonly string[], detail: string) => InputIssue;

/** The document at hand is the submitted schema itself. */
export const blameSubmitted: Blame = (tokens, detail) => ({ pointer: pointerOf(tokens), detail });

/**
 * Why a schema, or a document it refers to, is not taken:
 *
 * - `schemaDialectUnsupported`: it is of a draft that is not supported
 * - `schemaInvalid`: a keyword holds a value it may not have, or a pattern is not a regular expression
 * - `schemaNotConvertible`: valid in its own draft, but with no counterpart in a 2020-12 compound document
 * - `schemaReferenceDangling`: references lead to documents that are not there, or to places that documents do not have
 * - `schemaTooCostly`: working on it took more time or memory than it may
 * - `schemaTooLarge`: larger than this service takes
 */
export type SchemaRefusal =
  | 'schemaDialectUnsupported'
  | 'schemaInvalid'
  | 'schemaNotConvertible'
  | 'schemaReferenceDangling'
  | 'schemaTooCostly'
  | 'schemaTooLarge';

/** A schema that cannot be accepted; every fault found is listed. */
export class SchemaRefusedError extends GatewayError {
  /** @param missingUris every document that is not there, by absolute URI without fragment */
  constructor(
    readonly kind: SchemaRefusal,
    summary: string,
    readonly errors: readonly InputIssue[],
    readonly missingUris: readonly string[] = [],
    options?: ErrorOptions,
  ) {
    super(summary, options);
  }
}
