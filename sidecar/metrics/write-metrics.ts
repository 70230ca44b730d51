import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import { createPolicyLabel } from './policy-label.js';

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

export function createWriteMetrics(registry: Registry, prefix: string): WriteMetrics {
  const registers = [registry];
  const entities = new Counter({
    name: `${prefix}write_check_entities_total`,
    help: 'Entities that were written on routes that are checked, by policy and verdict.',
    labelNames: ['policy', 'verdict'],
    registers,
  });
  const refused = new Counter({
    name: `${prefix}write_check_refused_total`,
    help: 'Entities that were refused because they are not valid, or not judged.',
    labelNames: ['policy'],
    registers,
  });
  const failures = new Counter({
    name: `${prefix}write_check_failures_total`,
    help: 'Writes that could not be judged, by policy and reason.',
    labelNames: ['policy', 'reason'],
    registers,
  });
  const duration = new Histogram({
    name: `${prefix}write_check_duration_seconds`,
    help: 'Judging one write, from its last byte to the verdict.',
    buckets: BUCKETS,
    registers,
  });
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
