import { localName } from '../../ngsi-ld/representation/names.js';

/** The part of a write policy that the choice between policies depends on. */
export interface Candidate {
  readonly name: string;
  readonly priority: number;
  readonly mode: WriteMode;
  /** Names or IRIs of types; all types if left out. */
  readonly types?: readonly string[] | undefined;
}

/** What a policy does with entities. */
export interface PolicyEffect {
  readonly mode: WriteMode;
  readonly onUnjudged: 'accept' | 'refuse';
}

/** Whether an entity that is invalid, or not judged, must not be sent. In the mode `report`, nothing is refused. */
export function isRefused(verdict: 'invalid' | 'not-judged', { mode, onUnjudged }: PolicyEffect): boolean {
  return mode === 'enforce' && (verdict === 'invalid' || onUnjudged === 'refuse');
}

/** `off`: writes are not checked; `report`: their errors are counted; `enforce`: invalid writes are also refused. */
export type WriteMode = 'off' | 'report' | 'enforce';

/** A type as written, and its IRI; undefined if that is unknown. */
export interface WrittenType {
  readonly written: string;
  readonly iri: string | undefined;
}

const STRICTNESS: Readonly<Record<WriteMode, number>> = { off: 0, report: 1, enforce: 2 };

/** The order in which policies are tried: the highest priority first, then by name. */
export function byPriority(one: Candidate, other: Candidate): number {
  return other.priority - one.priority || (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
}

/** Whether one mode is stricter than the other. */
export function isStricter(one: WriteMode, other: WriteMode): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/**
 * Chooses the policy for an entity by its types. If there are several types, the strictest of their policies applies,
 * so that adding a type cannot take an entity out of a check. A type of unknown meaning could be any type.
 *
 * @param candidates in order; the last one applies to all types
 * @param types empty if they are not known at all
 * @returns the index of the policy
 */
export function choosePolicy(candidates: readonly Candidate[], types: readonly WrittenType[]): number {
  // The usual case.
  if (candidates[0]?.types === undefined) return 0;
  if (types.length === 0) return strictest(candidates, candidates.keys());
  return strictest(
    candidates,
    types.flatMap(({ iri }) =>
      iri === undefined
        ? possiblePolicies(candidates)
        : candidates.findIndex(
            ({ types: own }) => own === undefined || own.some((one) => one === iri || one === localName(iri)),
          ),
    ),
  );
}

/** The policies up to the first one that applies to all types, because no later one can be chosen. */
function possiblePolicies(candidates: readonly Candidate[]): readonly number[] {
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
