import { originForm } from './request-path.js';
import { type Reading, readingsOf } from './request-path-readings.js';

/** What a request writes, by its method and its path. */
export interface WriteRoute {
  readonly kind: WriteKind;
  /** Of the entity, decoded, where the path has it. */
  readonly id?: string;
  /** Name of the attribute, decoded, where the path has it. */
  readonly attribute?: string;
}

export type WriteKind =
  /** A whole entity: POST /entities. */
  | 'create'
  /** The same in the place of another: PUT /entities/{id}. */
  | 'replace'
  /** PATCH /entities/{id}. */
  | 'merge'
  /** Attributes: POST and PATCH /entities/{id}/attrs. */
  | 'append'
  | 'update'
  /** Parts of one attribute: PATCH /entities/{id}/attrs/{attr}; and the whole of it: PUT. */
  | 'attribute'
  | 'replace-attribute'
  | 'delete-attribute'
  /** Batches: POST /entityOperations/…. */
  | 'batch-create'
  | 'batch-upsert'
  | 'batch-update'
  | 'batch-merge'
  /** POST /temporal/entities, and its attrs; PATCH of one instance. */
  | 'temporal-create'
  | 'temporal-append'
  | 'temporal-instance'
  /** Nothing is written that could be judged, but what is known of the types of entities may be outdated. */
  | 'delete'
  | 'batch-delete';

/** How a request stands to the checks of writes. */
export type WriteClass =
  | WriteRoute
  /** A server could read the path as a write that is checked, but it is not spelled as one. */
  | 'unclear'
  /** No such write. */
  | undefined;

const ROUTES: readonly (readonly [method: string, path: string, kind: WriteKind])[] = [
  ['POST', 'entities', 'create'],
  ['PUT', 'entities/{id}', 'replace'],
  ['PATCH', 'entities/{id}', 'merge'],
  ['DELETE', 'entities/{id}', 'delete'],
  ['POST', 'entities/{id}/attrs', 'append'],
  ['PATCH', 'entities/{id}/attrs', 'update'],
  ['PATCH', 'entities/{id}/attrs/{attribute}', 'attribute'],
  ['PUT', 'entities/{id}/attrs/{attribute}', 'replace-attribute'],
  ['DELETE', 'entities/{id}/attrs/{attribute}', 'delete-attribute'],
  ['POST', 'entityOperations/create', 'batch-create'],
  ['POST', 'entityOperations/upsert', 'batch-upsert'],
  ['POST', 'entityOperations/update', 'batch-update'],
  ['POST', 'entityOperations/merge', 'batch-merge'],
  ['POST', 'entityOperations/delete', 'batch-delete'],
  ['POST', 'temporal/entities', 'temporal-create'],
  ['DELETE', 'temporal/entities/{id}', 'delete'],
  ['POST', 'temporal/entities/{id}/attrs', 'temporal-append'],
  ['PATCH', 'temporal/entities/{id}/attrs/{attribute}/{instance}', 'temporal-instance'],
];

/** Methods that change nothing (RFC 9110 § 9.2.1), and QUERY. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'CONNECT']);

/** POSTs below the collections that read. */
const READS = /^ngsi-ld\/[^/]+\/(?:temporal\/)?entityoperations\/query$/;

/** Where brokers take entities, in lower case as readings have it. */
const ENTITIES = /^ngsi-ld\/[^/]+\/(?:temporal\/)?(?:entities|entityoperations)(?:\/|$)/;

/** A path in which no server finds anything to decode, to fold or to cut off. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9_.~:-]*)+\/?$/;

const PREFIX = ['', 'ngsi-ld', 'v1'];

const TEMPLATES = ROUTES.map(([method, path, kind]) => ({ method, kind, segments: path.split('/') }));

/**
 * Says what a request writes. Works on the request line as it was on the wire, because every router decodes and normalises in
 * its own way: a path counts as a write if it is spelled as one and no server could read it as another.
 *
 * @param rawUrl request-target in any form, undecoded
 */
export function classifyWrite(method: string, rawUrl: string): WriteClass {
  if (SAFE.has(method)) return undefined;
  const path = originForm(rawUrl).split('?', 1)[0] ?? '';
  const exact = exactRoute(method, path);
  if (PLAIN_PATH.test(path))
    return exact ?? (method === 'DELETE' || !isWritten(readingsOf(path)) ? undefined : 'unclear');
  const readings = readingsOf(path);
  if (exact !== undefined) return readings.every((one) => agrees(method, one, exact)) ? exact : 'unclear';
  // The front door lets a DELETE through only if it names one resource in every reading.
  return method === 'DELETE' || !isWritten(readings) ? undefined : 'unclear';
}

function isWritten(readings: readonly Reading[]): boolean {
  return readings.some(({ segments }) => {
    const path = segments.join('/');
    return ENTITIES.test(path) && !READS.test(path);
  });
}

function exactRoute(method: string, path: string): WriteRoute | undefined {
  const segments = path.split('/');
  if (segments.length > 4 && segments.at(-1) === '') segments.pop();
  if (!PREFIX.every((part, index) => segments[index] === part)) return undefined;
  const given = segments.slice(PREFIX.length);
  const found = TEMPLATES.find((one) => one.method === method && fits(one.segments, given));
  if (found === undefined) return undefined;
  const at = (name: string) => decoded(given[found.segments.indexOf(name)]);
  const [id, attribute] = [at('{id}'), at('{attribute}')];
  return {
    kind: found.kind,
    ...(id === undefined ? {} : { id }),
    ...(attribute === undefined ? {} : { attribute }),
  };
}

function fits(template: readonly string[], given: readonly string[]): boolean {
  return (
    template.length === given.length &&
    template.every((part, index) =>
      part.startsWith('{') ? decoded(given[index]) !== undefined : part === given[index],
    )
  );
}

/** The identifier in a segment; undefined where there is none. */
function decoded(segment: string | undefined): string | undefined {
  if (segment === undefined || segment === '' || segment === '.' || segment === '..') return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Whether a reading of the path leads to the same write, or, as an identifier may be a URL, to nothing that a broker has. */
function agrees(method: string, { segments, climbs }: Reading, { kind, attribute }: WriteRoute): boolean {
  if (climbs) return false;
  const given = segments.slice(2);
  const found = TEMPLATES.filter(
    (one) =>
      one.segments.length === given.length &&
      one.segments.every((part, index) => part.startsWith('{') || part.toLowerCase() === given[index]),
  );
  if (segments[0] !== 'ngsi-ld' || found.length === 0) return true;
  const same = found.find((one) => one.method === method && one.kind === kind);
  if (same === undefined) return false;
  const read = given[same.segments.indexOf('{attribute}')];
  return attribute === undefined || (decoded(read) ?? read) === attribute.toLowerCase();
}

/** What the query of a write says about how its body is to be read. */
export interface WriteOptions {
  /**
   * Whether attributes may be plain values. `either` where a broker could read the body as simplified, or as it shows: what is
   * written must then be valid both ways.
   */
  readonly isSimplified: boolean;
  /** Whether an upsert certainly only updates what is there: `options=update`, and nothing that says otherwise. */
  readonly updates: boolean;
  /** Whether strings may be merged into the language maps that attributes have: `lang`, on a merge. */
  readonly mergesLanguages: boolean;
  /** The one instance of the attribute that is certainly meant, where one is. */
  readonly datasetId: string | undefined;
}

const SIMPLIFIED = /^(?:keyvalues|simplified|simplifiedkeyvalues)$/i;

/**
 * Reads the query of a write as a careless server might: what it does not say clearly is taken in the stricter sense.
 *
 * @param rawUrl request-target, undecoded
 */
export function writeOptions(rawUrl: string): WriteOptions {
  const start = rawUrl.indexOf('?');
  if (start === -1) return NO_OPTIONS;
  // Some servers also split at semicolons.
  const parameters = rawUrl
    .slice(start + 1)
    .split(/[&;]/)
    .map(parameterOf);
  const named = (name: string) => parameters.filter(([one]) => one.trim().toLowerCase() === name);
  const options = named('options').flatMap(([, value]) => value.split(','));
  const formats = named('format').map(([, value]) => value);
  const isSimplified = [...options, ...formats].some((one) => SIMPLIFIED.test(one.trim()));
  const [only, ...others] = named('options');
  const isSpelledOut = others.length === 0 && /(?:\?|&)options=[A-Za-z,]+(?:&|$)/.test(rawUrl);
  const says = only?.[1].split(',') ?? [];
  const [dataset, ...otherDatasets] = named('datasetid');
  const meansOne =
    otherDatasets.length === 0 &&
    /(?:\?|&)datasetId=[^&;]/.test(rawUrl) &&
    named('deleteall').every(([, value]) => value === 'false');
  return {
    isSimplified,
    updates: isSpelledOut && says.includes('update') && !says.some((one) => /^replace$/i.test(one)),
    mergesLanguages: named('lang').length > 0,
    datasetId: meansOne ? dataset?.[1] : undefined,
  };
}

const NO_OPTIONS: WriteOptions = {
  isSimplified: false,
  updates: false,
  mergesLanguages: false,
  datasetId: undefined,
};

function parameterOf(text: string): readonly [name: string, value: string] {
  const end = text.indexOf('=');
  const [name, value] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
  return [decodedValue(name), decodedValue(value)];
}

function decodedValue(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
