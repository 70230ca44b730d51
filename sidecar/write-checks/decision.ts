import { isRefused } from '../schemas/writes/policy-choice.js';
import type { Judgement, JudgedItem } from '../schemas/writes/protocol.js';
import type { CandidatePolicy } from './candidates.js';

/** The verdict on a write as a whole: the worst of those on its entities. */
export type WriteVerdict = 'valid' | 'invalid' | 'not-judged';

/** A fault of a write, in the form of `/validate`; in a batch, with the id of its entity. */
interface WriteFault {
  readonly pointer: string;
  readonly detail: string;
  readonly entityId?: string;
  readonly [member: string]: unknown;
}

export interface Decision {
  readonly verdict: WriteVerdict;
  readonly action: 'pass' | 'refuse' | 'thin';
  /** The entities that are refused, and why. */
  readonly refused: readonly RefusedEntity[];
}

/** An entity of a write that is refused, and why. */
export interface RefusedEntity {
  readonly id: string | undefined;
  readonly policy: string;
  readonly verdict: 'invalid' | 'not-judged';
  readonly faults: readonly WriteFault[];
}

/** Decides what happens to a write. @param isBatch whether the body is an array of entities */
export function decide(
  { valid, others, partialBatch }: Judgement,
  candidates: readonly CandidatePolicy[],
  isBatch: boolean,
): Decision {
  const verdict = others.some((one) => one.verdict === 'invalid')
    ? 'invalid'
    : others.length > 0 || valid.length === 0
      ? 'not-judged'
      : 'valid';
  const refused = others.flatMap((item) => {
    const policy = candidates[item.policy];
    return policy !== undefined && isRefused(item.verdict, policy)
      ? [{ id: item.id, policy: policy.name, verdict: item.verdict, faults: faultsOf(item, isBatch) }]
      : [];
  });
  if (refused.length === 0) return { verdict, action: 'pass', refused };
  return { verdict, action: partialBatch === undefined ? 'refuse' : 'thin', refused };
}

function faultsOf({ index, id, reason, errors }: JudgedItem, isBatch: boolean): readonly WriteFault[] {
  const entityId = isBatch && id !== undefined ? { entityId: id } : {};
  if (errors !== undefined)
    return (JSON.parse(errors) as readonly WriteFault[]).map((fault) => ({ ...fault, ...entityId }));
  const pointer = isBatch ? `/${index}` : '';
  return [{ pointer, detail: `cannot be judged: ${reason ?? 'the reason is unknown'}`, ...entityId }];
}
