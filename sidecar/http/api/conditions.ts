import type { IfMatch } from '../../store/index.js';
import { refused } from '../errors.js';

/** The state that a write expects (RFC 9110 § 13.1). */
export interface Conditions {
  /** `If-Match`: strong ETags without quotes, one of which must match; undefined for no condition. */
  readonly ifMatch: readonly string[] | '*' | undefined;
  /** `If-None-Match: *`: the resource must not exist. */
  readonly ifAbsent: boolean;
}

const ENTITY_TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/;
const ENTITY_TAGS = new RegExp(`^\\s*(?:${ENTITY_TAG.source}\\s*(?:,\\s*|$))+$`);

/**
 * Reads the conditions of a write.
 *
 * @throws RequestRefusedError (400) for anything but a list of ETags: a condition that is not understood would not hold
 */
export function writeConditions(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Conditions {
  const [ifMatch, ifNoneMatch] = [headerOf(headers, 'if-match'), headerOf(headers, 'if-none-match')];
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*')
    throw refused('invalidRequest', 'In a write, the header If-None-Match must be *.');
  return { ifMatch: ifMatch === undefined ? undefined : matchOf(ifMatch), ifAbsent: ifNoneMatch === '*' };
}

function matchOf(header: string): readonly string[] | '*' {
  if (header === '*') return '*';
  if (!ENTITY_TAGS.test(header))
    throw refused('invalidRequest', 'The header If-Match must be * or a list of ETags in double quotes.');
  // Weak ones never match: If-Match compares strongly (RFC 9110 § 13.1.1).
  return tagsOf(header)
    .filter(({ isWeak }) => !isWeak)
    .map(({ tag }) => tag);
}

/** Whether the client of a read has the current representation already; `etag` is without quotes. */
export function isKnown(header: string, etag: string): boolean {
  if (header === `"${etag}"` || header.trim() === '*') return true;
  return tagsOf(header).some(({ tag }) => tag === etag);
}

function tagsOf(header: string): readonly { readonly tag: string; readonly isWeak: boolean }[] {
  return Array.from(header.matchAll(new RegExp(ENTITY_TAG, 'g')), ([, weak, tag = '']) => ({
    tag,
    isWeak: weak !== undefined,
  }));
}

function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return (typeof value === 'string' ? value : value?.join(', '))?.trim();
}

/**
 * The conditions of a write to a resource that must exist.
 *
 * @param find rejects when it does not exist
 * @throws RequestRefusedError (412) for `If-None-Match: *` when it does
 */
export async function writeOptions(
  { ifMatch, ifAbsent }: Conditions,
  find: () => Promise<unknown>,
): Promise<{ readonly ifMatch?: IfMatch }> {
  if (ifAbsent) {
    await find();
    throw refused('preconditionFailed', 'If-None-Match: * is for new resources, and this one exists.');
  }
  // These writes never create anything, so `If-Match: *` holds without a check.
  return ifMatch === undefined || ifMatch === '*' ? {} : { ifMatch };
}

/**
 * The state that a write of a resource expects which it may also create.
 *
 * @throws RequestRefusedError (412) for conditions that contradict each other
 */
export function expectedOf({
  ifMatch,
  ifAbsent,
}: Conditions): 'absent' | 'present' | readonly string[] | undefined {
  if (!ifAbsent) return ifMatch === '*' ? 'present' : ifMatch;
  if (ifMatch === undefined) return 'absent';
  throw refused('preconditionFailed', 'If-Match and If-None-Match: * cannot both hold.');
}
