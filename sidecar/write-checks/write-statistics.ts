import type { JudgedItem, Judgement, WriteFinding } from '../schemas/writes/protocol.js';
import type { CandidatePolicy } from './candidates.js';
import type { Decision } from './decision.js';

/**
 * A policy with its tenant. A later policy of the same name may be for another tenant, which must not see earlier
 * findings.
 */
export type CountedPolicy = Pick<CandidatePolicy, 'name' | 'tenant'>;

/** A finding, and the number of written entities that have it. */
interface CountedFinding extends WriteFinding {
  readonly entities: number;
  /** Ids of the first few entities. */
  readonly sample: readonly string[];
}

/** The results of the checks of writes since this process began. */
export interface WriteCounts {
  readonly checked: number;
  readonly invalid: number;
  readonly refused: number;
  readonly notJudged: number;
  /** The most frequent findings first. */
  readonly findings: readonly CountedFinding[];
}

/** Maximum number of findings kept for one policy, and for all policies. */
const MAX_FINDINGS_PER_POLICY = 1000;
const MAX_FINDINGS = 10_000;
const MAX_SAMPLE = 5;
const MAX_ID_CHARS = 1000;
/** Maximum number of policies with counts; there are more only if many policies are deleted and created. */
const MAX_POLICIES = 1000;

interface Counts {
  checked: number;
  invalid: number;
  refused: number;
  notJudged: number;
  readonly findings: Map<string, CountedFinding & { entities: number; readonly sample: string[] }>;
}

/** Counts the results of checks by policy. The counts are lost when the process ends. */
export class WriteStatistics {
  readonly #byPolicy = new Map<string, Counts>();
  #findingCount = 0;

  /** Adds the results for one write. */
  add({ valid, others }: Judgement, candidates: readonly CandidatePolicy[], decision: Decision): void {
    for (const [policy, entities] of valid) this.#countsOf(candidates[policy]).checked += entities;
    for (const item of others) {
      const counts = this.#countsOf(candidates[item.policy]);
      counts.checked += 1;
      if (item.verdict === 'invalid') counts.invalid += 1;
      else counts.notJudged += 1;
      this.#addFindings(counts, item);
    }
    for (const { policy } of decision.refused)
      this.#countsOf(candidates.find(({ name }) => name === policy)).refused += 1;
  }

  /** The counts of some policies, or of all. The name of the setting is empty. */
  counts(policies?: readonly CountedPolicy[]): WriteCounts {
    const keys = policies?.map(policyKey) ?? [...this.#byPolicy.keys()];
    const all = keys.flatMap((key) => this.#byPolicy.get(key) ?? []);
    const sum = (of: (counts: Counts) => number) => all.reduce((total, one) => total + of(one), 0);
    return {
      checked: sum((one) => one.checked),
      invalid: sum((one) => one.invalid),
      refused: sum((one) => one.refused),
      notJudged: sum((one) => one.notJudged),
      findings: mergeFindings(all)
        .sort((one, other) => other.entities - one.entities)
        .slice(0, MAX_FINDINGS_PER_POLICY),
    };
  }

  #countsOf(policy: CountedPolicy = { name: '' }): Counts {
    const key = policyKey(policy);
    const known = this.#byPolicy.get(key);
    if (known !== undefined) return known;
    if (this.#byPolicy.size >= MAX_POLICIES) {
      this.#byPolicy.clear();
      this.#findingCount = 0;
    }
    const counts = { checked: 0, invalid: 0, refused: 0, notJudged: 0, findings: new Map() };
    this.#byPolicy.set(key, counts);
    return counts;
  }

  #addFindings(counts: Counts, { id: whole, findings = [] }: JudgedItem): void {
    const id = whole?.slice(0, MAX_ID_CHARS);
    const seen = new Set<string>();
    for (const finding of findings) {
      const key = findingKey(finding);
      if (seen.has(key)) continue;
      seen.add(key);
      const known = counts.findings.get(key);
      if (known !== undefined) {
        known.entities += 1;
        if (id !== undefined && known.sample.length < MAX_SAMPLE && !known.sample.includes(id))
          known.sample.push(id);
      } else if (counts.findings.size < MAX_FINDINGS_PER_POLICY && this.#findingCount < MAX_FINDINGS) {
        this.#findingCount += 1;
        counts.findings.set(key, { ...finding, entities: 1, sample: id === undefined ? [] : [id] });
      }
    }
  }
}

function mergeFindings(all: readonly Counts[]): CountedFinding[] {
  if (all.length === 1) return [...(all[0]?.findings.values() ?? [])];
  const found = new Map<string, CountedFinding>();
  for (const { findings } of all)
    for (const [key, one] of findings) {
      const other = found.get(key);
      found.set(
        key,
        other === undefined
          ? one
          : {
              ...other,
              entities: other.entities + one.entities,
              sample: [...new Set([...other.sample, ...one.sample])].slice(0, MAX_SAMPLE),
            },
      );
    }
  return [...found.values()];
}

function policyKey({ name, tenant }: CountedPolicy): string {
  return JSON.stringify([name, tenant ?? null]);
}

function findingKey({ model, pointer, keyword }: WriteFinding): string {
  return JSON.stringify([model, pointer, keyword]);
}
