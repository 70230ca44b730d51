import { errorTypes, type Problem } from '../shared/problem.js';
import type { PurgeReport, Item } from '../purge/index.js';
import { defined } from '../shared/defined.js';

/** The preferences of a client (RFC 7240). Unknown preferences are ignored, as the RFC requires. */
export interface Preferences {
  /** `respond-async`: answer at once and do the work later. */
  readonly respondAsync: boolean;
  /** `return=representation`: describe in the body what was done. */
  readonly representation: boolean;
}

/**
 * Reads the header `Prefer`. If a preference is given more than once, the first counts (RFC 7240 § 2). A header that
 * does not follow the grammar is ignored as a whole.
 */
export function readPreferences(header: string | readonly string[] | undefined): Preferences {
  const given = parsePrefer([header ?? []].flat().join(','));
  return {
    respondAsync: given?.get('respond-async') === '',
    representation: given?.get('return')?.toLowerCase() === 'representation',
  };
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`;
const PAIR = `(${TOKEN})(?:[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED}))?`;

/** A preference with its parameters; no preference known here has any. */
const PREFERENCE = new RegExp(`${PAIR}(?:[ \\t]*;(?:[ \\t]*${PAIR})?)*[ \\t]*(?=,|$)`, 'iy');

/** Commas between the elements of a list, which may be empty (RFC 9110 § 5.6.1.2). */
const COMMAS = /[ \t,]*/y;

/**
 * Parses preferences into values by lower-case name; the first value of each name counts. A missing value is empty,
 * which has the same meaning. Returns undefined if the text does not follow the grammar of RFC 7240 § 2.
 */
function parsePrefer(text: string): ReadonlyMap<string, string> | undefined {
  const given = new Map<string, string>();
  for (let at = skip(0); at < text.length; at = skip(PREFERENCE.lastIndex)) {
    PREFERENCE.lastIndex = at;
    const [, name, value = ''] = PREFERENCE.exec(text) ?? [];
    if (name === undefined) return undefined;
    const key = name.toLowerCase();
    if (!given.has(key)) given.set(key, unquoted(value));
  }
  return given;

  function skip(from: number): number {
    COMMAS.lastIndex = from;
    COMMAS.exec(text);
    return COMMAS.lastIndex;
  }
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}

export interface PurgeAnswer {
  readonly status: 200 | 204 | 207;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What the answer contains in addition to the report. */
export interface AnswerOptions {
  /** The id of the purge's record. */
  readonly id: string;
  readonly durationMs: number;
  /** Whether the client sent `Prefer: return=representation` (RFC 7240 § 4.2). */
  readonly wantsRepresentation: boolean;
}

interface BatchEntityError {
  readonly entityId: string;
  readonly error: Problem;
}

/** Maximum number of items in a list of the answer. */
const MAX_ERRORS = 1000;

/** Maximum length of the warning header, since some clients refuse answers with very long headers. */
const WARNING_MAX_CHARS = 2000;

/**
 * Converts the report of a purge into its answer: 200 for a dry run or on request, 204 if all matches are gone, 207
 * with a BatchOperationResult (clause 5.2.16) if something remained or may have, or the broker's result was incomplete.
 */
export function purgeAnswer(
  report: PurgeReport,
  { id, durationMs, wantsRepresentation }: AnswerOptions,
): PurgeAnswer {
  const { matched, deleted, alreadyGone, failed, unknown, requests, warnings } = report;
  const headers: Record<string, string> = {
    'purge-matched': String(matched),
    ...(warnings.length === 0 ? {} : { 'ngsild-warning': warningHeader(warnings) }),
  };
  if (report.dryRun) return { status: 200, headers, body: previewBody(report) };

  headers['purge-deleted'] = String(deleted);
  headers['purge-already-gone'] = String(alreadyGone);
  headers['purge-failed'] = String(failed);
  if (unknown > 0) headers['purge-unknown'] = String(unknown);
  if (report.arrived > 0) headers['purge-arrived'] = String(report.arrived);
  const summary = { id, matched, deleted, alreadyGone, failed, unknown, durationMs, requests };
  if (wantsRepresentation) headers['preference-applied'] = 'return=representation';
  if (failed > 0 || unknown > 0 || warnings.length > 0) {
    const errors = [...warnings.map(incomplete), ...errorsOf(report)].slice(0, MAX_ERRORS);
    const result = { success: report.success, errors };
    return { status: 207, headers, body: wantsRepresentation ? { ...result, ...summary } : result };
  }
  return wantsRepresentation ? { status: 200, headers, body: summary } : { status: 204, headers };
}

/**
 * Joins warnings for a header. Characters that no header can contain, for example from a query, are percent-encoded;
 * what a broker sent stays unchanged.
 */
function warningHeader(warnings: readonly string[]): string {
  let header = '';
  for (const character of warnings.join(', ')) {
    const isHeld = /^[\t\x20-\x7e\x80-\xff]$/.test(character);
    const written = isHeld ? character : percentEncoded(character);
    if (header.length + written.length > WARNING_MAX_CHARS) break;
    header += written;
  }
  return header;
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}

/**
 * The body for a dry run: counts, samples of the entities or parts that would be deleted, and hints if there may be no
 * matches.
 */
function previewBody(report: PurgeReport): unknown {
  const { matched, sample, unit, items, isLowerBound, hints = [], warnings } = report;
  return {
    matched,
    sample,
    ...defined({ unit, atLeast: isLowerBound }),
    ...(items === undefined
      ? {}
      : { items: items.map((item) => ({ entityId: item.entityId, ...partOf(item) })) }),
    ...(hints.length === 0 ? {} : { hints }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function errorsOf(report: PurgeReport): readonly BatchEntityError[] {
  return report.errors.map(({ error, ...item }) => ({
    entityId: item.entityId,
    error: { ...error, ...partOf(item) },
  }));
}

/** Says which part of its entity an item is; empty for an entity. */
function partOf({ attribute, datasetId, instanceId, time }: Item): Readonly<Record<string, string>> {
  return { ...defined({ attribute, datasetId, instanceId }), ...time };
}

/**
 * Reports an incomplete result, e.g. if a context source did not answer the broker: its entities may not have been
 * listed, and so not deleted.
 */
function incomplete(warning: string): BatchEntityError {
  const sentence = warning.slice(0, 500).replace(/\.$/, '');
  return {
    entityId: 'urn:ngsi-ld:*',
    error: {
      type: errorTypes.internalError,
      title: 'The result of the query may be incomplete',
      status: 502,
      detail: `Warning: ${sentence}. Matches that the broker did not list may remain.`,
    },
  };
}
