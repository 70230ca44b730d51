import { errorTypes, type Problem } from '../ngsi-ld/problem.js';
import type { PurgeReport, Item } from '../purge/index.js';
import { defined } from '../shared/defined.js';

/** What a client would like of an answer (RFC 7240); preferences that are not known are ignored, as the RFC wants it. */
export interface Preferences {
  /** `respond-async`: an answer at once, and the work later. */
  readonly respondAsync: boolean;
  /** `return=representation`: what was done, in the body. */
  readonly representation: boolean;
}

/**
 * Reads the header `Prefer`. Of a preference that is given more than once the first counts (RFC 7240 § 2); a header that does
 * not follow the grammar is ignored as a whole.
 */
export function preferencesOf(header: string | readonly string[] | undefined): Preferences {
  const given = parsePrefer([header ?? []].flat().join(','));
  return {
    respondAsync: given?.get('respond-async') === '',
    representation: given?.get('return')?.toLowerCase() === 'representation',
  };
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`;
const PAIR = `(${TOKEN})(?:[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED}))?`;

/** A preference with its parameters, which none that is known here has. */
const PREFERENCE = new RegExp(`${PAIR}(?:[ \\t]*;(?:[ \\t]*${PAIR})?)*[ \\t]*(?=,|$)`, 'iy');

/** Commas between elements of a list, which may be empty (RFC 9110 § 5.6.1.2). */
const COMMAS = /[ \t,]*/y;

/**
 * The value of each preference by its name in lower case, the first of each; a value that is missing is empty, which means the
 * same. Undefined for what does not follow the grammar of RFC 7240 § 2.
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

/** The answer to a purge that ran to its end. */
export interface PurgeAnswer {
  readonly status: 200 | 204 | 207;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface AnswerOptions {
  /** Of the purge's record. */
  readonly id: string;
  readonly durationMs: number;
  /** The client sent `Prefer: return=representation` (RFC 7240 § 4.2). */
  readonly wantsRepresentation: boolean;
}

interface BatchEntityError {
  readonly entityId: string;
  readonly error: Problem;
}

/** Items that a list of the answer holds at most. */
const MAX_ERRORS = 1000;

/** Some clients refuse answers whose headers are too long. */
const WARNING_MAX_CHARS = 2000;

/**
 * Turns the report of a purge into its answer: 200 for a dry run or on request, 204 when all is gone, 207 with a
 * BatchOperationResult (clause 5.2.16) when something stayed, or may have, or the broker's result was incomplete.
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

/** Texts of a query may have characters that no header can hold: those are percent-encoded. What a broker sent stays as it is. */
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

/** Counts, and samples of what would go: of entities, or of parts of them; or why that may be nothing. */
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

/** Which part of its entity an item is; empty for an entity. */
function partOf({ attribute, datasetId, instanceId, time }: Item): Readonly<Record<string, string>> {
  return { ...defined({ attribute, datasetId, instanceId }), ...time };
}

/** E.g. a context source did not answer the broker: what it holds may not have been listed, nor deleted. */
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
