import { GatewayError } from '../shared/errors.js';

/** What the command line ends with. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** The call is wrong, or its query: nothing was sent. */
  usage: 2,
  /** Some of it stayed, what was checked is not valid, or what was compared differs. */
  partial: 3,
  /** By the gateway or the broker, before anything was done. */
  refused: 4,
  /** By the user: with Ctrl+C, or by answering a question with no. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * Whether an HTTP status means that a request was refused, rather than that it failed: 3xx, 4xx and 501, but not what may pass
 * by itself (408, 429).
 */
export function isRefusedStatus(status: number): boolean {
  return (status >= 300 && status < 500 && status !== 408 && status !== 429) || status === 501;
}

/** Ends the command with a sentence on standard error. */
export class CliError extends GatewayError {
  readonly kind = 'internalError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The call is wrong, or its query. */
export function usage(message: string, options?: ErrorOptions): CliError {
  return new CliError(EXIT.usage, message, options);
}

export function failure(message: string, options?: ErrorOptions): CliError {
  return new CliError(EXIT.failed, message, options);
}
