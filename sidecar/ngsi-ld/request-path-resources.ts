import { decodings, isEncodedTooOften, piecesOf, readingsOf, type Reading } from './request-path-readings.js';

/**
 * Paths under /ngsi-ld/v1 that name exactly one resource with a DELETE operation (ETSI GS CIM 009 V1.9.1, clause 6.2);
 * `*` stands for one identifier. Any other path never reaches a broker as a DELETE.
 */
const SINGLE_RESOURCES = [
  'entities/*',
  'entities/*/attrs/*',
  'temporal/entities/*',
  'temporal/entities/*/attrs/*',
  'temporal/entities/*/attrs/*/*',
  'subscriptions/*',
  'csourceRegistrations/*',
  'csourceSubscriptions/*',
  'jsonldContexts/*',
  'entityMaps/*',
  'temporal/entityMaps/*',
  'snapshots/*',
].map((template) => ['', 'ngsi-ld', 'v1', ...template.split('/')]);

/**
 * True when the path, spelled exactly, names one resource that may be deleted, and no plausible reading of it names a
 * collection: every identifier is well-formed percent-encoded UTF-8 and keeps at least one ordinary leading piece
 * however often it is decoded; none holds a dot segment, a control character or a bare `*`.
 *
 * The check for paths that are built as well as for those received: an entity whose identifier is `urn:x/..` cannot be
 * deleted by its path, because a server that decodes before it routes would delete the collection.
 *
 * @param target request-target in origin form; the query is ignored
 */
export function isSingleResourceDeletePath(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  if (!/^[\x21-\x7e]+$/.test(path) || /[#\\]/.test(path)) return false;
  const segments = path.split('/');
  const matches = SINGLE_RESOURCES.some(
    (template) =>
      template.length === segments.length &&
      template.every((part, index) =>
        part === '*' ? isPlainIdentifier(segments[index] ?? '') : part === segments[index],
      ),
  );
  return matches && !readingsOf(path).some(isCollection);
}

/**
 * True when each identifier in such a path can be nothing but one identifier. The resource itself has a URI (RFC 3986
 * § 3), which `null` and `.json` are not; only contexts have identifiers of the broker's own making. No identifier has a
 * comma, at which some servers split lists.
 *
 * @param target request-target for which `isSingleResourceDeletePath` holds
 */
export function hasSingleIdentifiers(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  const [, , , ...segments] = path.split('/');
  if (segments.some((segment) => decodings(segment).some((text) => text.includes(',')))) return false;
  const [collection, id = ''] = segments[0] === 'temporal' ? segments.slice(1) : segments;
  return collection === 'jsonldContexts' || /^[a-z][a-z0-9+.-]*:./i.test(decodeURIComponent(id));
}

/** True when a reading lies under the NGSI-LD API, or begins there before dot segments lead out of it. */
export function isUnderApi(reading: Reading): boolean {
  return reading.segments[0] === 'ngsi-ld' || reading.first === 'ngsi-ld';
}

/** True when a reading is one of the two collections that can be purged, with or without a version. */
export function isPurgeable(reading: Reading): boolean {
  return /^ngsi-ld\/(?:[^/]+\/)?(?:temporal\/)?entities$/.test(reading.segments.join('/'));
}

/** True when a reading stops at a collection: the API's root, a list of resources, or all attributes of one entity. */
function isCollection(reading: Reading): boolean {
  const path = reading.segments.join('/');
  return (
    /^ngsi-ld(?:\/[^/]+){0,2}$/.test(path) ||
    /^ngsi-ld\/[^/]+\/temporal\/[^/]+$/.test(path) ||
    /^ngsi-ld\/[^/]+\/(?:temporal\/)?entities\/[^/]+\/attrs$/.test(path)
  );
}

function isPlainIdentifier(segment: string): boolean {
  return isWellFormed(segment) && !isEncodedTooOften(segment) && decodings(segment).every(isPlainText);
}

function isWellFormed(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

function isPlainText(text: string): boolean {
  if (/[\0-\x1f\x7f-\x9f]/.test(text)) return false;
  const pieces = piecesOf(text);
  // A careless server takes the first piece for the identifier: without a letter or a digit it could mean all (`*`), an
  // empty list (`,`), or nothing, which is the collection.
  return /[\p{L}\p{N}]/u.test(pieces[0] ?? '') && !pieces.some((piece) => piece === '.' || piece === '..');
}
