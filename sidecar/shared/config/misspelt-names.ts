import { closestMatch, editDistance } from '../misspelling.js';
import { RESERVED_PREFIXES, settings } from './settings.js';

const NAMES: readonly string[] = Object.keys(settings);

/** Shorter names are too often one edit away from a setting by coincidence. */
const MIN_CHARS = 8;

/** The suffix of a name that states the unit of its value. */
const UNIT = /_(?:MS|BYTES|DAYS)$/;

/**
 * Finds the names in an environment that were meant as settings: a misspelt limit would silently not apply, and a
 * misspelt secret would leave the gateway open.
 *
 * @returns one sentence per name
 */
export function misspeltNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (NAMES.includes(name) || isServiceLink(name, value)) return [];
    const meant = intendedSetting(name);
    const isGuarded = RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (meant === undefined && !isGuarded) return [];
    const guess = meant ?? closestMatch(name, NAMES);
    return [`${name} is not a setting${guess === undefined ? '' : `; did you mean ${guess}?`}`];
  });
}

/**
 * Whether Kubernetes or Docker links set a variable for a service, whatever the name of the service: a service `broker`
 * sets BROKER_SERVICE_HOST, BROKER_PORT_1026_TCP and BROKER_PORT=tcp://…, and a link of Docker also
 * BROKER_NAME=/container/broker and BROKER_ENV_… for each variable of its image.
 */
export function isServiceLink(name: string, value = ''): boolean {
  return (
    /_SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(name) ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/.test(name) ||
    (/_PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value)) ||
    /^\w+_ENV_\w+$/.test(name) ||
    (/^\/[^/]+\/[^/]+$/.test(value) && name === `${nameOfLink(value)}_NAME`)
  );
}

/** Returns what the variables of a link begin with. @param value `/container/broker` */
function nameOfLink(value: string): string {
  return value
    .slice(value.lastIndexOf('/') + 1)
    .toUpperCase()
    .replaceAll('-', '_');
}

/**
 * Returns the setting that a name differs from by one letter that was inserted, dropped or changed, by two swapped
 * neighbours, by its underscores, or by its unit.
 */
function intendedSetting(name: string): string | undefined {
  if (name.length < MIN_CHARS) return undefined;
  return NAMES.find(
    (known) =>
      editDistance(name, known, 1) === 1 ||
      name === known.replace(UNIT, '') ||
      name.replaceAll('_', '') === known.replaceAll('_', ''),
  );
}
