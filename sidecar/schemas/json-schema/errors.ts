import { GatewayError, type ProblemMembers } from '../../shared/errors.js';
import { pointerOf, type InputIssue } from '../../shared/json/json.js';
import type { TaskRefusal } from '../../shared/task-answer.js';

/** Makes an issue at a place, given by the tokens of a JSON pointer into the document being processed. */
export type IssueFactory = (tokens: readonly string[], detail: string) => InputIssue;

/** For issues in the submitted schema itself. */
export const submittedIssue: IssueFactory = (tokens, detail) => ({ pointer: pointerOf(tokens), detail });

/**
 * Why a schema, or a document it refers to, is rejected:
 *
 * - `schemaDialectUnsupported`: its draft is not supported
 * - `schemaInvalid`: a keyword has a value that it must not have, or a pattern is not a regular expression
 * - `schemaNotConvertible`: it is valid in its own draft, but has no counterpart in a 2020-12 compound document
 * - `schemaReferenceDangling`: references lead to missing documents, or to missing places in documents
 * - `schemaTooCostly`: processing it exceeded the limits on time or memory
 * - `schemaTooLarge`: it is larger than this service accepts
 */
export type SchemaRefusal =
  | 'schemaDialectUnsupported'
  | 'schemaInvalid'
  | 'schemaNotConvertible'
  | 'schemaReferenceDangling'
  | 'schemaTooCostly'
  | 'schemaTooLarge';

/** A schema, or a document for schemas to refer to, that is rejected; lists every fault found. */
export class SchemaRefusedError extends GatewayError {
  /** @param missingUris the absolute URIs, without fragment, of all missing documents; their faults come first, in this order */
  constructor(
    readonly kind: SchemaRefusal,
    summary: string,
    readonly errors: readonly InputIssue[],
    readonly missingUris: readonly string[] = [],
    options?: ErrorOptions,
  ) {
    super(summary, options);
  }

  override get members(): ProblemMembers {
    const { errors, missingUris } = this;
    return { errors, ...(missingUris.length === 0 ? {} : { missing: missingUris }) };
  }
}

/** A {@link SchemaRefusedError} as plain data that can be sent between threads. */
export interface RefusedSchema {
  readonly refused: TaskRefusal<SchemaRefusal> & { readonly missingUris?: readonly string[] };
}
