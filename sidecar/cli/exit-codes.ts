import { GatewayError } from '../shared/errors.js';

/** The exit codes of the command line. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** The arguments or the query are wrong; nothing was sent. */
  usage: 2,
  /** Something was left undone, something checked is not valid, or something compared differs. */
  partial: 3,
  /** Refused by the gateway or the broker, before anything was done. */
  refused: 4,
  /** Stopped by the user: with Ctrl+C, or by answering a question with no. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that ends the command. Its message is written to standard error. Any function of this room may throw it. */
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

/** The error for wrong arguments or a wrong query. */
export function usage(message: string, options?: ErrorOptions): CliError {
  return new CliError(EXIT.usage, message, options);
}

/** The error for a command that failed. */
export function failure(message: string, options?: ErrorOptions): CliError {
  return new CliError(EXIT.failed, message, options);
}
