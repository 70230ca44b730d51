/** A policy of writes, as far as the choice between policies goes. */
export interface Candidate {
  readonly name: string;
  readonly priority: number;
  readonly mode: WriteMode;
  /** Names or IRIs of types; any where it is left out. */
  readonly types?: readonly string[] | undefined;
}

/** What becomes of an entity, by its policy. */
export interface Consequences {
  readonly mode: WriteMode;
  readonly onUnjudged: 'accept' | 'refuse';
}

/** Whether an entity that is not valid, or not judged, must not be sent. Nothing is refused in a report. */
export function isRefused(verdict: 'invalid' | 'not-judged', { mode, onUnjudged }: Consequences): boolean {
  return mode === 'enforce' && (verdict === 'invalid' || onUnjudged === 'refuse');
}

export type WriteMode = 'off' | 'report' | 'enforce';

/** A type as it was written, and what it means; undefined where that is not known. */
export interface WrittenType {
  readonly written: string;
  readonly iri: string | undefined;
}

const STRICTNESS: Readonly<Record<WriteMode, number>> = { off: 0, report: 1, enforce: 2 };

/** The order in which policies are tried: the highest priority first, then by name. */
export function byPriority(one: Candidate, other: Candidate): number {
  return other.priority - one.priority || (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
}

/** The stricter of two modes. */
export function isStricter(one: WriteMode, other: WriteMode): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/**
 * The policy for an entity, by its types. An entity of several types has the strictest of the policies for each: a type that is
 * added must not take an entity out of a check. A type of which nobody knows what it means could be any.
 *
 * @param candidates in order; the last fits all types
 * @param types none where they are not known at all
 * @returns the position of the policy
 */
export function choosePolicy(candidates: readonly Candidate[], types: readonly WrittenType[]): number {
  // As is usual.
  if (candidates[0]?.types === undefined) return 0;
  if (types.length === 0) return strictest(candidates, candidates.keys());
  return strictest(
    candidates,
    types.flatMap(({ iri }) =>
      iri === undefined
        ? possible(candidates)
        : candidates.findIndex(({ types: own }) => own === undefined || own.some((one) => isMeant(one, iri))),
    ),
  );
}

/** Those before the first that fits all, which decides for what none of them fits. */
function possible(candidates: readonly Candidate[]): readonly number[] {
  const last = candidates.findIndex(({ types }) => types === undefined);
  return [...candidates.keys()].slice(0, last + 1);
}

function strictest(candidates: readonly Candidate[], positions: Iterable<number>): number {
  let found = -1;
  for (const at of positions) {
    const [one, other] = [candidates[at], candidates[found]];
    if (one !== undefined && (other === undefined || isStricter(one.mode, other.mode))) found = at;
  }
  return found === -1 ? candidates.length - 1 : found;
}

/** Whether a policy means a type: by its IRI, or by the name at the end of it. */
function isMeant(type: string, iri: string): boolean {
  return (
    type === iri ||
    type === iri.slice(Math.max(iri.lastIndexOf('/'), iri.lastIndexOf('#'), iri.lastIndexOf(':')) + 1)
  );
}
