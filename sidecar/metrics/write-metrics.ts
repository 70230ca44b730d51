import { createPolicyLabel, type Instruments } from './instruments.js';

/** Records every write that is looked at. Never throws. */
export interface WriteMetrics {
  /** @param policy the setting's is empty */
  judged(entities: readonly JudgedEntities[], ms: number): void;
  refused(policy: string, entities: number): void;
  /** @param reason one of a few words */
  failed(policy: string, reason: string): void;
}

interface JudgedEntities {
  readonly policy: string;
  readonly verdict: 'valid' | 'invalid' | 'not-judged';
  readonly entities: number;
}

/** Seconds: from a small entity to a large batch. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export function createWriteMetrics(instruments: Instruments): WriteMetrics {
  const entities = instruments.counter(
    'write_check_entities_total',
    'Entities that were written on routes that are checked, by policy and verdict.',
    ['policy', 'verdict'],
  );
  const refused = instruments.counter(
    'write_check_refused_total',
    'Entities that were refused because they are not valid, or not judged.',
    ['policy'],
  );
  const failures = instruments.counter(
    'write_check_failures_total',
    'Writes that could not be judged, by policy and reason.',
    ['policy', 'reason'],
  );
  const duration = instruments.histogram(
    'write_check_duration_seconds',
    'Judging one write, from its last byte to the verdict.',
    BUCKETS,
  );
  const nameOf = createPolicyLabel();
  const labelOf = (policy: string) => (policy === '' ? 'WRITE_CHECK' : nameOf(policy));
  return {
    judged: (all, ms) => {
      for (const { policy, verdict, entities: count } of all)
        entities.inc({ policy: labelOf(policy), verdict: verdict.replace('-', '_') }, count);
      duration.observe(ms / 1000);
    },
    refused: (policy, count) => refused.inc({ policy: labelOf(policy) }, count),
    failed: (policy, reason) => failures.inc({ policy: labelOf(policy), reason }),
  };
}
