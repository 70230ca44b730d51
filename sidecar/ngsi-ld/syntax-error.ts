import { GatewayError } from '../shared/errors.js';
import { plusSignHint, quoted } from '../shared/format-value.js';

const MAX_QUOTE_CHARS = 24;

/**
 * A text in one of the NGSI-LD languages (q, type selection, geoquery) has a syntax error.
 *
 * `parameter` is the query parameter, `position` counts UTF-16 code units from its start, and the message names the
 * expected input. Only part of the offending text is quoted.
 */
export class NgsiLdSyntaxError extends GatewayError {
  readonly kind = 'badRequestData';
  readonly parameter: string;
  readonly position: number;

  constructor(parameter: string, position: number, expected: string, text: string) {
    super(`${parameter}: expected ${expected} at position ${position}, found ${found(text, position)}`);
    this.parameter = parameter;
    this.position = position;
  }
}

function found(text: string, position: number): string {
  const rest = text.slice(position, position + MAX_QUOTE_CHARS + 1);
  return rest === ''
    ? 'the end'
    : `${quoted(rest, MAX_QUOTE_CHARS)}${plusSignHint(text.slice(0, position + 5))}`;
}
