import { GatewayError } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';

/**
 * No schema can be inferred from these samples; `errors` has the first faults. `bodyInvalid`: a sample is not an
 * object, not an entity or not of the model's type, or there are no samples. `limitExceeded`: the schema would exceed
 * the limits of schemas.
 */
export class SamplesRefusedError extends GatewayError {
  constructor(
    readonly kind: 'bodyInvalid' | 'limitExceeded',
    message: string,
    readonly errors: readonly InputIssue[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Makes the error for exceeding a limit. @param limit what the schema would have too much of */
export function limitExceeded(limit: string, cause?: Error): SamplesRefusedError {
  const detail = `their schema would have ${limit}`;
  return new SamplesRefusedError(
    'limitExceeded',
    `The samples are too complex: ${detail}.`,
    [{ pointer: '', detail }],
    {
      cause,
    },
  );
}

/**
 * Limits of inference. Beyond any of the first four, the schema permanently says less: more samples never make it more
 * specific again, so that it only ever widens.
 */
export const INFERENCE_LIMITS = {
  /** Distinct names of the objects at one place; with more, the names are treated as data, and any object is accepted. */
  names: 200,
  /** Maximum nesting depth of arrays and objects that is examined; the content of deeper ones is not described. */
  levels: 48,
  /** Maximum number of distinct strings at one place for an enumeration. */
  enumeratedValues: 20,
  /** Maximum length of a string in an enumeration, in UTF-16 code units. */
  enumeratedLength: 64,
  /** Maximum length of a string whose format is detected, in UTF-16 code units. */
  formattedLength: 2048,
  /** Maximum number of listed faults. */
  faults: 100,
  /** Maximum total length of their pointers, in UTF-16 code units; the first fault is listed in any case. */
  pointersLength: 100_000,
} as const;
