import { GatewayError } from '../../shared/errors.js';

/** What is wrong with a sample, and where in the submitted document (a JSON pointer, RFC 6901). */
export interface SampleFault {
  readonly pointer: string;
  readonly detail: string;
}

/** Samples from which no schema can be inferred; `errors` has the first faults. */
export abstract class SamplesRefusedError extends GatewayError {
  abstract override readonly code: 'SAMPLES_INVALID' | 'SAMPLES_TOO_RICH';

  constructor(
    message: string,
    readonly errors: readonly SampleFault[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A sample is no object, no entity, not of the model's type, or there is none. */
export class InvalidSamplesError extends SamplesRefusedError {
  readonly code = 'SAMPLES_INVALID';
}

/** The schema of the samples would be larger than a schema may be. */
export class SamplesTooRichError extends SamplesRefusedError {
  readonly code = 'SAMPLES_TOO_RICH';
}

/** @param limit what the schema would have too much of */
export function tooRich(limit: string, cause?: Error): SamplesTooRichError {
  const detail = `their schema would have ${limit}`;
  return new SamplesTooRichError(`The samples are too rich: ${detail}.`, [{ pointer: '', detail }], {
    cause,
  });
}
