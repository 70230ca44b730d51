import { GatewayError } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';

/**
 * Samples from which no schema can be inferred; `errors` has the first faults. `bodyInvalid`: a sample is not an object, not
 * an entity or not of the model's type, or samples are missing. `limitExceeded`: their schema would be larger than one may be.
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

/** @param limit what the schema would have too much of */
export function tooRich(limit: string, cause?: Error): SamplesRefusedError {
  const detail = `their schema would have ${limit}`;
  return new SamplesRefusedError(
    'limitExceeded',
    `The samples are too rich: ${detail}.`,
    [{ pointer: '', detail }],
    {
      cause,
    },
  );
}

/**
 * Bounds of what is inferred. Past one of the first four the schema says less, for good: more samples never make it say
 * more again, so that it only ever widens.
 */
export const INFERENCE_LIMITS = {
  /** Distinct names of the objects at one place; with more, the names are data, and any object will do. */
  names: 200,
  /** Arrays and objects within each other that are looked into; deeper ones are just arrays and objects. */
  levels: 48,
  /** Distinct strings at one place that are still an enumeration. */
  enumeratedValues: 20,
  /** UTF-16 units of a string that is still a word of an enumeration. */
  enumeratedLength: 64,
  /** UTF-16 units of a string that is looked at for its format. */
  formattedLength: 2048,
  /** Faults of samples that are listed. */
  faults: 100,
  /** UTF-16 units of a fault's pointer; of a longer one a part is shown. */
  pointerLength: 10_000,
  /** UTF-16 units of the pointers of all faults that are listed. */
  pointersLength: 100_000,
  /** UTF-16 units of what is said of a fault. */
  detailLength: 1000,
} as const;
