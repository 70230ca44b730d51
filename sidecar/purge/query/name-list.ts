import { isName, NAME_LENGTH_MAX } from '../../ngsi-ld/names.js';
import { QueryRefusedError } from '../errors.js';

/** Names in one list. Each name in drop and keep costs one query. */
const MAX_NAMES = 1000;

/**
 * The names in a comma list of attributes, each a term, a compact IRI or an IRI; undefined when the parameter is missing.
 * What could mean something else to a broker is refused: paths, braces, wildcards.
 *
 * @throws QueryRefusedError
 */
export function namesOf(
  parameters: ReadonlyMap<string, string>,
  parameter: string,
): readonly string[] | undefined {
  const names = itemsOf(parameters, parameter);
  for (const name of names ?? []) checkName(name, parameter, 'an attribute name such as speed');
  return names;
}

/** The items of a comma list, undefined when the parameter is missing. @throws QueryRefusedError */
export function itemsOf(
  parameters: ReadonlyMap<string, string>,
  parameter: string,
): readonly string[] | undefined {
  const value = parameters.get(parameter);
  if (value === undefined) return undefined;
  const items = value.split(',');
  if (items.some((item) => item === '' || /\s/.test(item))) {
    throw refused(
      parameter,
      `${parameter} must be a comma-separated list of names, without spaces or empty items.`,
    );
  }
  if (items.length > MAX_NAMES) {
    throw refused(parameter, `${parameter} takes at most ${MAX_NAMES} names; this list has ${items.length}.`);
  }
  return items;
}

/**
 * Checks one name.
 *
 * @param expected what it should be, e.g. "an attribute name such as speed"
 * @throws QueryRefusedError
 */
export function checkName(name: string, parameter: string, expected: string): void {
  if (isName(name)) return;
  const shown = `"${name.slice(0, 200)}"`;
  throw refused(parameter, `${parameter}: ${shown} is not ${expected}, or an IRI: ${faultOf(name)}.`);
}

function faultOf(name: string): string {
  if (name.length > NAME_LENGTH_MAX) return `it is longer than ${NAME_LENGTH_MAX} characters`;
  if (/[{}]/.test(name)) return 'braces select linked entities, which a purge does not follow';
  if (name.includes('*')) return 'wildcards are not supported';
  if (/[[\]]/.test(name)) return 'brackets select part of a value, and only whole attributes can be named';
  return 'a name has letters, digits, "_", "-" and "."';
}

function refused(parameter: string, message: string): QueryRefusedError {
  return new QueryRefusedError('badRequestData', message, parameter);
}
