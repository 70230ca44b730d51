import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import { createPolicyLabel } from './policy-label.js';

/**
 * How a run of a retention policy ended: the final states of its record; `held_back`: it only reported, because far more matched
 * than usual; `skipped`: the run before had not ended; `not_begun`: it could not begin.
 */
export type RetentionOutcome =
  | ('succeeded' | 'partial' | 'failed' | 'cancelled' | 'refused' | 'interrupted')
  | ('held_back' | 'skipped' | 'not_begun');

/** Records every run of a retention policy. Never throws. */
export interface RetentionMetrics {
  ran(policy: string, outcome: RetentionOutcome): void;
}

/** Counters of runs; a policy is there from its first run on. */
export function createRetentionMetrics(registry: Registry, prefix: string): RetentionMetrics {
  const registers = [registry];
  const runs = new Counter({
    name: `${prefix}retention_runs_total`,
    help: 'Runs of retention policies that have ended, or that did not begin, by policy and outcome.',
    labelNames: ['policy', 'outcome'],
    registers,
  });
  const lastSuccess = new Gauge({
    name: `${prefix}retention_last_success_timestamp_seconds`,
    help: 'When a run of the policy last succeeded in this process, in seconds since 1970.',
    labelNames: ['policy'],
    registers,
  });
  const labelOf = createPolicyLabel();
  return {
    ran(name, outcome) {
      const policy = labelOf(name);
      runs.inc({ policy, outcome });
      if (outcome === 'succeeded') lastSuccess.set({ policy }, Date.now() / 1000);
    },
  };
}
