import { isUri } from './model.js';
import { refusals } from './refusal.js';

/** Parameters of the standard's queries (ETSI GS CIM 009 V1.9.1, table 6.4.3.2-1) that are not supported here. */
const KNOWN_UNSUPPORTED: ReadonlySet<string> = new Set([
  'omit', 'lang', 'join', 'joinLevel', 'containedBy', 'orderBy', 'collation', 'orderFrom', 'orderGeometry',
  'entityMap', 'entityMapLifetime', 'splitEntities', 'csf', 'datasetId', 'expandValues', 'jsonKeys',
]); // oxfmt-ignore

/** The parameters of one request, each at most once and not empty; unknown ones were refused. */
export type Parameters = ReadonlyMap<string, string>;

/**
 * Reads a query string and refuses unsupported parameters (clause 6.3.20).
 *
 * @param search the part after `?`, form-encoded
 * @throws Refusal InvalidRequest naming the parameter; 501 for one that the standard defines and this broker does not
 * support
 */
export function readParameters(
  search: string,
  taken: ReadonlySet<string>,
  ignored: readonly string[] = [],
): Parameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (ignored.includes(name)) continue;
    const shown = JSON.stringify(name.slice(0, 64));
    if (!taken.has(name)) {
      if (KNOWN_UNSUPPORTED.has(name)) throw refusals.notImplemented(`Parameter ${shown} is not supported`);
      throw refusals.invalidRequest(`Parameter ${shown} is unknown for this operation`);
    }
    if (parameters.has(name)) throw refusals.invalidRequest(`Parameter ${shown} is repeated`);
    if (value === '') throw refusals.invalidRequest(`Parameter ${shown} is empty`);
    parameters.set(name, value);
  }
  return parameters;
}

/** Reads an integer of 0 or more. @throws Refusal BadRequestData */
export function readCount(parameters: Parameters, name: string, fallback: number): number {
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(count)) throw refusals.badRequest(`${name} must be an integer of 0 or more`);
  return count;
}

/** Reads `true` or `false`; false when absent. @throws Refusal BadRequestData */
export function readFlag(parameters: Parameters, name: string): boolean {
  const text = parameters.get(name);
  if (text !== undefined && text !== 'true' && text !== 'false') {
    throw refusals.badRequest(`${name} must be true or false`);
  }
  return text === 'true';
}

/** Which instances of an attribute to delete: all, or those of one dataset (undefined: those without datasetId). */
export type InstanceChoice = 'all' | { readonly datasetId: string | undefined };

/** Reads `datasetId` and `deleteAll` of a deletion. @throws Refusal BadRequestData */
export function readInstanceChoice(parameters: Parameters): InstanceChoice {
  const datasetId = parameters.get('datasetId');
  if (datasetId !== undefined && datasetId !== '@none' && !isUri(datasetId)) {
    throw refusals.badRequest('datasetId must be a URI');
  }
  if (readFlag(parameters, 'deleteAll')) return 'all';
  return { datasetId: datasetId === '@none' ? undefined : datasetId };
}

/** Reads a comma-separated list; undefined when absent. @throws Refusal BadRequestData */
export function readList(parameters: Parameters, name: string): readonly string[] | undefined {
  const items = parameters
    .get(name)
    ?.split(',')
    .map((item) => item.trim());
  if (items?.includes('') === true) throw refusals.badRequest(`${name} has an empty item`);
  return items;
}
