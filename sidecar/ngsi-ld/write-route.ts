import { originForm } from './request-path.js';
import { type PathInterpretation, interpretPath } from './path-interpretations.js';

/** What a request writes, according to its method and path. */
export interface WriteRoute {
  readonly kind: WriteKind;
  /** The id of the entity, decoded, if the path contains it. */
  readonly id?: string;
  /** The name of the attribute, decoded, if the path contains it. */
  readonly attribute?: string;
}

export type WriteKind =
  /** A whole new entity: POST /entities. */
  | 'create'
  /** A whole entity that replaces another: PUT /entities/{id}. */
  | 'replace'
  /** A merge patch: PATCH /entities/{id}. */
  | 'merge'
  /** Attributes: POST and PATCH /entities/{id}/attrs. */
  | 'append'
  | 'update'
  /** One attribute: PATCH /entities/{id}/attrs/{attr} changes parts of it, PUT replaces it. */
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
  /** Deletions: there is no content to judge, but cached knowledge about the types of entities may be outdated afterwards. */
  | 'delete'
  | 'batch-delete';

/** The kind of a request, for write checks. */
export type WriteClass =
  | WriteRoute
  /** A server could take the request for a write of entities, but it is not one that can be judged. */
  | 'unclear'
  /** Not a write that is checked. */
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
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'CONNECT']);

/** POST requests to these paths only read. */
const READ_ONLY_PATHS = /^ngsi-ld\/[^/]+\/(?:temporal\/)?entityoperations\/query$/;

/**
 * Paths where brokers accept entities, in lower case like readings. At `ex/v1/notify`, Orion-LD stores the entities of
 * notifications.
 */
const ENTITY_PATHS =
  /^ngsi-ld\/(?:[^/]+\/(?:temporal\/)?(?:entities|entityoperations)(?:\/|$)|(?:ex\/)?[^/]+\/notify$)/;

/** A path that leaves servers nothing to decode, fold or cut off. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9_.~:-]*)+\/?$/;

const PREFIX = ['', 'ngsi-ld', 'v1'];

const TEMPLATES = ROUTES.map(([method, path, kind]) => ({ method, kind, segments: path.split('/') }));

/**
 * Determines what a request writes. Uses the request line as received, because every router decodes and normalises in
 * its own way: a path counts as a write if it is spelled as one and no server could read it as a different one.
 *
 * @param rawUrl request-target in any form, undecoded
 */
export function classifyWrite(method: string, rawUrl: string): WriteClass {
  if (SAFE_METHODS.has(method)) return undefined;
  const path = originForm(rawUrl).split('?', 1)[0] ?? '';
  const exact = exactRoute(method, path);
  if (PLAIN_PATH.test(path))
    return exact ?? (method === 'DELETE' || !mayWriteEntities(interpretPath(path)) ? undefined : 'unclear');
  const interpretations = interpretPath(path);
  if (exact !== undefined)
    return interpretations.every((one) => isConsistent(method, one, exact)) ? exact : 'unclear';
  // The front door passes a DELETE only if it names one resource in every reading.
  return method === 'DELETE' || !mayWriteEntities(interpretations) ? undefined : 'unclear';
}

function mayWriteEntities(interpretations: readonly PathInterpretation[]): boolean {
  return interpretations.some(({ segments }) => {
    const path = segments.join('/');
    return ENTITY_PATHS.test(path) && !READ_ONLY_PATHS.test(path);
  });
}

function exactRoute(method: string, path: string): WriteRoute | undefined {
  const segments = path.split('/');
  if (segments.length > 4 && segments.at(-1) === '') segments.pop();
  if (!PREFIX.every((part, index) => segments[index] === part)) return undefined;
  const given = segments.slice(PREFIX.length);
  const found = TEMPLATES.find((one) => one.method === method && matchesTemplate(one.segments, given));
  if (found === undefined) return undefined;
  const at = (name: string) => decoded(given[found.segments.indexOf(name)]);
  const [id, attribute] = [at('{id}'), at('{attribute}')];
  return {
    kind: found.kind,
    ...(id === undefined ? {} : { id }),
    ...(attribute === undefined ? {} : { attribute }),
  };
}

function matchesTemplate(template: readonly string[], given: readonly string[]): boolean {
  return (
    template.length === given.length &&
    template.every((part, index) =>
      part.startsWith('{') ? decoded(given[index]) !== undefined : part === given[index],
    )
  );
}

/** Returns the decoded identifier in a segment; undefined if there is none. */
function decoded(segment: string | undefined): string | undefined {
  if (segment === undefined || segment === '' || segment === '.' || segment === '..') return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Whether a reading of the path leads to the same write or, since an identifier may be a URL, to nothing that a broker has. */
function isConsistent(
  method: string,
  { segments, escapesRoot: climbs }: PathInterpretation,
  { kind, attribute }: WriteRoute,
): boolean {
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

/** What the query of a write says about how to read its body. */
export interface WriteOptions {
  /**
   * Whether attributes may be plain values, because `options` or `format` asks for the simplified form. If the body could
   * be read as another form too, the write must be valid in both.
   */
  readonly isSimplified: boolean;
  /**
   * Whether an upsert updates existing entities instead of replacing them: `yes` for `options=update` without contradiction;
   * `unclear` if a broker may read it so.
   */
  readonly updates: 'yes' | 'no' | 'unclear';
  /** Whether strings may be merged into existing language maps of attributes: `lang`, on a merge. */
  readonly mergesLanguages: boolean;
  /** The datasetId of the one instance that is certainly meant, if there is one. */
  readonly datasetId: string | undefined;
}

const SIMPLIFIED = /^(?:keyvalues|simplified|simplifiedkeyvalues)$/i;

/**
 * Reads the query of a write the way a careless server might: anything unclear is read in the stricter sense.
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
  const isUnambiguous = others.length === 0 && /(?:\?|&)options=[A-Za-z,]+(?:&|$)/.test(rawUrl);
  const values = only?.[1].split(',') ?? [];
  const [dataset, ...otherDatasets] = named('datasetid');
  const isSingleDataset =
    otherDatasets.length === 0 &&
    /(?:\?|&)datasetId=[^&;]/.test(rawUrl) &&
    named('deleteall').every(([, value]) => value === 'false');
  return {
    isSimplified,
    updates: !options.some((one) => one.trim().toLowerCase() === 'update')
      ? 'no'
      : isUnambiguous && values.includes('update') && !values.some((one) => /^replace$/i.test(one))
        ? 'yes'
        : 'unclear',
    mergesLanguages: named('lang').length > 0,
    datasetId: isSingleDataset ? dataset?.[1] : undefined,
  };
}

const NO_OPTIONS: WriteOptions = {
  isSimplified: false,
  updates: 'no',
  mergesLanguages: false,
  datasetId: undefined,
};

function parameterOf(text: string): readonly [name: string, value: string] {
  const end = text.indexOf('=');
  const [name, value] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
  return [decodedValue(name), decodedValue(value)];
}

/** Decodes what can be decoded, up to U+0000, at which servers end what they keep as a C string. */
function decodedValue(text: string): string {
  const decoded = text.replaceAll('+', ' ').replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('latin1');
    }
  });
  return decoded.split('\0', 1)[0] ?? '';
}
