import { refusals } from './refusal.js';

/** A scope query (clause 4.19): any of the alternatives, each of which asks for all of its patterns. */
export type ScopeQuery = readonly (readonly ScopePattern[])[];

interface ScopePattern {
  readonly levels: readonly string[];
  /** `/#` at the end: the scope itself and everything below. */
  readonly below: boolean;
}

const LEVEL = /^(?:\+|\p{L}[\p{L}\p{N}_]*)$/u;
const ALTERNATIVE = /(?:\(([^()|,]*)\)|([^()|,;]*))(?:[|,]|$)/y;

/** Parses `/A/+/C`, `/A/#`, `/#`, alternatives (`|` or `,`) and conjunctions in brackets, `(/A;/B)`. @throws Refusal */
export function parseScopeQuery(text: string): ScopeQuery {
  const alternatives: ScopePattern[][] = [];
  ALTERNATIVE.lastIndex = 0;
  for (;;) {
    const end = ALTERNATIVE.lastIndex;
    const found = ALTERNATIVE.exec(text);
    if (found === null) throw refusals.badRequest(`scopeQ is no scope query: wrong at position ${end}`);
    const patterns = found[1] === undefined ? [found[2] ?? ''] : found[1].split(';');
    alternatives.push(patterns.map(parsePattern));
    if (ALTERNATIVE.lastIndex === text.length && !/[|,]$/.test(found[0])) return alternatives;
  }
}

function parsePattern(text: string): ScopePattern {
  const below = text.endsWith('/#');
  const scope = below ? text.slice(0, -2) : text;
  const [start, ...levels] = scope.split('/');
  const isPattern =
    start === '' && levels.every((level) => LEVEL.test(level)) && (below || levels.length > 0);
  if (!isPattern)
    throw refusals.badRequest('scopeQ is no scope query: a scope looks like /Madrid/+/Park or /Madrid/#');
  return { levels, below };
}

/** Whether an entity with these scopes (`/A/B` …) is selected; one without scopes never is. */
export function matchesScopes(query: ScopeQuery, scopes: readonly string[]): boolean {
  const split = scopes.map((scope) => scope.slice(1).split('/'));
  return query.some((patterns) =>
    patterns.every((pattern) => split.some((levels) => matches(pattern, levels))),
  );
}

function matches({ levels, below }: ScopePattern, scope: readonly string[]): boolean {
  if (below ? scope.length < levels.length : scope.length !== levels.length) return false;
  return levels.every((level, at) => level === '+' || level === scope[at]);
}
