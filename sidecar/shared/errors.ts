import type { InputIssue } from './json/json.js';

/**
 * What a client can be told that went wrong. http/problem-kinds.ts has the status, type and title of each.
 *
 * Errors that are not for clients are of the kind `internalError`: one that reaches a client all the same is logged, and
 * answered without a word about its cause.
 */
export type ProblemKind =
  | 'invalidRequest'
  | 'badRequestData'
  | 'writeInvalid'
  | 'writeNotJudged'
  | 'jobSecretMissing'
  | 'unauthorized'
  | 'tokenRefused'
  | 'roleMissing'
  | 'tenantRefused'
  | 'forbiddenByPolicy'
  | 'hostNotAllowed'
  | 'originNotAllowed'
  | 'notFound'
  | 'methodNotAllowed'
  | 'readOnly'
  | 'requestTimeout'
  | 'alreadyExists'
  | 'inUse'
  | 'incompatibleChange'
  | 'dependencyChanged'
  | 'modelPublished'
  | 'purgeOver'
  | 'scanOver'
  | 'runUnderWay'
  | 'typeAmbiguous'
  | 'tooManyMatches'
  | 'planGone'
  | 'archiveUnreadable'
  | 'preconditionFailed'
  | 'bodyTooLarge'
  | 'uriTooLong'
  | 'mediaTypeNotSupported'
  | 'expectationFailed'
  | 'bodyInvalid'
  | 'schemaInvalid'
  | 'schemaDialectUnsupported'
  | 'schemaTooLarge'
  | 'schemaReferenceDangling'
  | 'schemaNotConvertible'
  | 'schemaTooCostly'
  | 'contextInvalid'
  | 'contextRefused'
  | 'jsonLdInvalid'
  | 'dataDropped'
  | 'limitExceeded'
  | 'brokerThrottled'
  | 'fieldsTooLarge'
  | 'internalError'
  | 'notSupported'
  | 'filterIgnored'
  | 'transferCoding'
  | 'brokerRefused'
  | 'brokerFailed'
  | 'brokerUnreachable'
  | 'brokerReplyUnusable'
  | 'brokerContextUnavailable'
  | 'unexpectedEntity'
  | 'uncountableMatches'
  | 'busy'
  | 'connectionsBusy'
  | 'notConverging'
  | 'purgeCancelled'
  | 'shuttingDown'
  | 'storeUnavailable'
  | 'archiveUnavailable'
  | 'tooManyPurges'
  | 'writeCheckFailed'
  | 'signInUnavailable'
  | 'brokerTimeout'
  | 'contextUnavailable'
  | 'deadlineExceeded'
  | 'loopDetected';

/** What a problem says beyond its kind and its sentence (RFC 9457, section 3.2). */
export interface ProblemMembers {
  /** What is wrong with the input, and where. */
  readonly errors?: readonly InputIssue[];
  /** URIs of documents that are not there. */
  readonly missing?: readonly string[];
  readonly [member: string]: unknown;
}

/** Base of every error that this product throws on purpose. The message is a sentence for whoever sent the request. */
export abstract class GatewayError extends Error {
  abstract readonly kind: ProblemKind;

  /** Value of `Retry-After` (RFC 9110, section 10.2.3), where the same request may work later. */
  declare readonly retryAfter: string | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  get members(): ProblemMembers {
    return {};
  }
}

/** A body that can be read, and is wrong at one place. */
export class InvalidBodyError extends GatewayError {
  readonly kind = 'bodyInvalid';
  readonly errors: readonly InputIssue[];

  /** @param pointer to what is wrong; the detail completes a sentence about it */
  constructor(message: string, pointer: string, detail: string) {
    super(message);
    this.errors = [{ pointer, detail }];
  }

  override get members(): ProblemMembers {
    return { errors: this.errors };
  }
}
