import type { BrokerReply } from './exchange.js';
import { cut } from '../../shared/shown.js';

/**
 * The readable part of a broker's error. Brokers send problems without status or title, HTML pages and empty bodies, so
 * every member but the status is optional, and every text is capped.
 */
export interface BrokerProblem {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
}

const MAX_TEXT_CHARS = 1000;

/** Reads the problem in a reply; never throws. */
export function parseBrokerProblem(reply: BrokerReply): BrokerProblem {
  const body = parseJsonObject(reply.body);
  if (body !== undefined) return { ...problemMembers(body), status: reply.status };
  const isText = !/html|xml/.test(mediaTypeOf(reply.headers.get('content-type')));
  const text = isText ? reply.body.trim() : '';
  return text === '' ? { status: reply.status } : { status: reply.status, detail: cap(text) };
}

/** The textual members of a problem-like object. */
export function problemMembers(body: Readonly<Record<string, unknown>>): Omit<BrokerProblem, 'status'> {
  const type = textOf(body['type']);
  const title = textOf(body['title']);
  const detail = textOf(body['detail']) ?? textOf(body['message']) ?? textOf(body['description']);
  return {
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/**
 * True when a problem says that the tenant does not exist. The standard's type is NonexistentTenant (clause 5.5.10);
 * brokers also write NonExistingTenant and TenantNotFound.
 */
export function isUnknownTenant(problem: BrokerProblem): boolean {
  if (problem.status !== 404) return false;
  const { type = '', title = '' } = problem;
  // "Entity urn:ngsi-ld:Tenant:1 not found" is about an entity.
  const spoken = /\bentit|urn:/i.test(title) ? '' : title;
  return /nonexist\w*tenant|tenant\W*(?:is\W+|was\W+|does\W+)?(?:not|unknown)|(?:no such|unknown|non-?existent|non-?existing)\W+tenant/i.test(
    `${type} ${spoken}`,
  );
}

/** True when the problem is about the page size: TooManyResults (clause 5.5.2) or similar words. */
export function isAboutPageSize(problem: BrokerProblem): boolean {
  return /too ?many ?results|\blimit\b|page ?size/i.test(wordsOf(problem));
}

/** All texts of a problem, for the few decisions that depend on wording. */
export function wordsOf(problem: BrokerProblem): string {
  return [problem.type, problem.title, problem.detail].filter((text) => text !== undefined).join(' ');
}

/** Parses a JSON object; undefined for anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? cap(value.trim()) : undefined;
}

function cap(text: string): string {
  return cut(text, MAX_TEXT_CHARS);
}

/** The type/subtype of a Content-Type value in lower case, without parameters (RFC 9110 § 8.3); '' when absent. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
