/**
 * Base of every error this product throws on purpose.
 *
 * `code` is stable and greppable; statuses and wording for clients are decided in one place, http/problem.ts.
 */
export abstract class GatewayError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
