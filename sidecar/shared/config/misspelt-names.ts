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
    const guess = meant ?? NAMES.find((known) => differsLittle(name, known));
    return [`${name} is not a setting${guess === undefined ? '' : `; did you mean ${guess}?`}`];
  });
}

/**
 * Whether Kubernetes or Docker links set a variable for a service, whatever the name of the service: a service `broker`
 * sets BROKER_SERVICE_HOST, BROKER_PORT_1026_TCP and BROKER_PORT=tcp://….
 */
export function isServiceLink(name: string, value: string | undefined): boolean {
  return (
    /_SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(name) ||
    /_PORT_\d+_(?:TCP|UDP)(?:_\w+)?$/.test(name) ||
    (/_PORT$/.test(name) && /^(?:tcp|udp):\/\//.test(value ?? ''))
  );
}

/** Returns the setting that a name differs from by a single slip. */
function intendedSetting(name: string): string | undefined {
  if (name.length < MIN_CHARS) return undefined;
  return NAMES.find(
    (known) =>
      isOneEdit(name, known) ||
      name === known.replace(UNIT, '') ||
      name.replaceAll('_', '') === known.replaceAll('_', ''),
  );
}

/** Whether one letter was inserted, dropped or changed, or two neighbours were swapped. */
function isOneEdit(a: string, b: string): boolean {
  const { start, restA, restB } = parted(a, b);
  if (restA + restB === 0) return false;
  if (restA <= 1 && restB <= 1) return true;
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  return restA === 2 && restB === 2 && isSwapped;
}

/** Whether the texts differ in a single stretch of at most three characters. */
function differsLittle(a: string, b: string): boolean {
  const { restA, restB } = parted(a, b);
  return Math.max(restA, restB) <= 3;
}

/** Returns where two texts begin to differ, and the length of the differing part of each before their common ending. */
function parted(a: string, b: string): { start: number; restA: number; restB: number } {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return { start, restA: a.length - start - end, restB: b.length - start - end };
}
