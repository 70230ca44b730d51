import { GatewayError } from '../shared/errors.js';

/** A scan has no finding at this position. */
export class FindingNotFoundError extends GatewayError {
  readonly kind = 'notFound';

  constructor(id: string, position: number, findings: number) {
    super(`The scan ${id} has no finding ${String(position)}: it has ${String(findings)}, counted from 0.`);
  }
}
