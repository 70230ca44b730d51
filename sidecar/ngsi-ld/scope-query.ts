import { Scanner } from './scanner.js';

/** A scope query (clause 4.19): a list of alternatives, each of which requires all of its patterns. */
export type ScopeQuery = readonly (readonly ScopePattern[])[];

export interface ScopePattern {
  /** Position in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly levels: readonly string[];
  /** `/#` at the end: the scope itself and everything below it. */
  readonly includesDescendants: boolean;
}

/** More permissive than the grammar of clause 4.18, because brokers store scopes such as `/Nouvelle-Aquitaine/2`. */
const LEVEL = /\/(\+(?=[/()|,;]|$)|[\p{L}\p{M}\p{N}_.:~-]+)/uy;

/**
 * Parses `/A/+/C`, `/A/#`, `/#`, alternatives (`|` or `,`) and conjunctions in brackets, `(/A;/B)`.
 *
 * @throws NgsiLdSyntaxError
 */
export function parseScopeQuery(text: string): ScopeQuery {
  const scanner = new Scanner('scopeQ', text);
  const alternatives: ScopePattern[][] = [];
  do alternatives.push(readAlternative(scanner));
  while (scanner.take('|') || scanner.take(','));
  if (!scanner.atEnd) scanner.fail('"|", "," or the end, with conjunctions in brackets: (/A;/B)');
  return alternatives;
}

function readAlternative(scanner: Scanner): ScopePattern[] {
  if (!scanner.take('(')) return [readPattern(scanner)];
  const patterns: ScopePattern[] = [];
  do patterns.push(readPattern(scanner));
  while (scanner.take(';'));
  if (!scanner.take(')')) scanner.fail('";" or ")"');
  return patterns;
}

function readPattern(scanner: Scanner): ScopePattern {
  const start = scanner.position;
  const levels: string[] = [];
  for (;;) {
    const level = scanner.match(LEVEL);
    if (level === undefined) break;
    levels.push(level.slice(1));
  }
  const below = scanner.take('/#');
  if (levels.length === 0 && !below) scanner.fail('a scope such as /Madrid/Gardens, /Madrid/+ or /Madrid/#');
  return { levels, includesDescendants: below, start, end: scanner.position };
}

/** Whether every selected entity has a scope with a level named in the query; `/#` and `/+` name none. */
export function namesScopes(query: ScopeQuery): boolean {
  return query.every((patterns) => patterns.some(({ levels }) => levels.some((level) => level !== '+')));
}

/** Whether an entity with these scopes (`/A/B` …) is selected; an entity without scopes never is. */
export function matchesScopes(query: ScopeQuery, scopes: readonly string[]): boolean {
  const split = scopes.map((scope) => scope.slice(1).split('/'));
  return query.some((patterns) =>
    patterns.every((pattern) => split.some((levels) => matches(pattern, levels))),
  );
}

function matches({ levels, includesDescendants: below }: ScopePattern, scope: readonly string[]): boolean {
  if (below ? scope.length < levels.length : scope.length !== levels.length) return false;
  return levels.every((level, at) => level === '+' || level === scope[at]);
}
