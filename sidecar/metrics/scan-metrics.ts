import { Counter, type Registry } from '@prometheus-io/client';

const OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'] as const;
const VERDICTS = { valid: 'valid', invalid: 'invalid', notJudged: 'not_judged' } as const;

/** Records every scan. Never throws. */
export interface ScanMetrics {
  /** It has ended. Its counts are added once, here. */
  ended(outcome: (typeof OUTCOMES)[number], counts: Readonly<Record<keyof typeof VERDICTS, number>>): void;
}

/** Counters of scans; each is there from the start, so that its first increase shows. */
export function createScanMetrics(registry: Registry, prefix: string): ScanMetrics {
  const registers = [registry];
  const ended = new Counter({
    name: `${prefix}scan_ended_total`,
    help: 'Scans that have ended, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const entities = new Counter({
    name: `${prefix}scan_entities_total`,
    help: 'Entities of scans that have ended, by verdict (valid, invalid, not_judged).',
    labelNames: ['verdict'],
    registers,
  });
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0);
  for (const verdict of Object.values(VERDICTS)) entities.inc({ verdict }, 0);
  return {
    ended(outcome, { valid, invalid, notJudged }) {
      ended.inc({ outcome });
      entities.inc({ verdict: VERDICTS.valid }, valid);
      entities.inc({ verdict: VERDICTS.invalid }, invalid);
      entities.inc({ verdict: VERDICTS.notJudged }, notJudged);
    },
  };
}
