import type { Attack } from './attacks/attack.js';
import { claimedMatches, endlessHints, nestedPages, ring } from './attacks/brokers.js';
import {
  drippingUploads,
  eventListeners,
  halfSentHeads,
  stalledUploads,
  unreadAnswers,
} from './attacks/holding.js';
import { largeBodies, tinyChunks, workbenchBombs } from './attacks/large-bodies.js';
import { lockedDatabase, scrapedMetrics } from './attacks/neighbours.js';
import { headerFloods, patternBombs, requestLines } from './attacks/odd-requests.js';
import { pipelinedPurges, pipelinedReads, pipelinedUnread } from './attacks/pipelining.js';
import { runAttack, type AttackResult } from './attacks/run-attack.js';
import type { Bench, Target } from './support/bench.js';

/** The baseline: what the machine does without an attack. */
const nothing: Attack = {
  name: 'nothing',
  run: async ({ pause }) => {
    await pause(3000);
    return '';
  },
};

const ATTACKS: readonly Attack[] = [
  nothing,
  headerFloods,
  requestLines,
  patternBombs,
  pipelinedReads,
  pipelinedUnread,
  pipelinedPurges,
  halfSentHeads,
  stalledUploads,
  drippingUploads,
  unreadAnswers,
  eventListeners,
  largeBodies,
  tinyChunks,
  workbenchBombs,
  endlessHints,
  nestedPages,
  claimedMatches,
  ring,
  lockedDatabase,
  scrapedMetrics,
];

const HEALTH_MAX_MS = 250;
const GROWTH_MAX_MIB = 16;
/** The default of SHUTDOWN_GRACE_MS, two seconds for records and answers, and one to end. */
const STOP_MAX_S = 28;

/** Attacks on the built gateway. Each attack has its own gateway, whose health is watched from another process. Linux only. */
export const attacks: Bench = {
  name: 'attacks',
  async run({ rounds, only, log }) {
    const results: AttackResult[] = [];
    for (const attack of ATTACKS.filter(({ name }) => name.includes(only))) {
      const result = await runAttack(attack, rounds);
      log(
        `${attack.name}: worst health ${worstOf(result).toFixed(0)} ms (${busyOf(result).toFixed(0)} ms at work), ${result.outcome}`,
      );
      results.push(result);
    }
    return {
      tables: [
        {
          title: 'What each attack did',
          columns: [
            'attack',
            'worst health, ms',
            'at work',
            'p99',
            'live, MiB',
            'after',
            'peak',
            'stop, s',
            'outcome',
          ],
          rows: results.map((result) => [
            result.name,
            worstOf(result).toFixed(0),
            busyOf(result).toFixed(0),
            Math.max(...result.health.map(({ p99Ms }) => p99Ms)).toFixed(0),
            (result.liveMiB[0] ?? 0).toFixed(1),
            (result.liveMiB.at(-1) ?? 0).toFixed(1),
            result.peakMiB.toFixed(0),
            (result.stopMs / 1000).toFixed(1),
            result.outcome,
          ]),
        },
      ],
      targets: targetsOf(results),
      data: { results },
    };
  },
};

function worstOf({ health }: AttackResult): number {
  return Math.max(...health.map(({ worstMs, failed }) => (failed > 0 ? Infinity : worstMs)));
}

function busyOf({ health }: AttackResult): number {
  return Math.max(...health.map(({ worstBusyMs }) => worstBusyMs));
}

function targetsOf(results: readonly AttackResult[]): readonly Target[] {
  const growth = ({ liveMiB }: AttackResult) => (liveMiB.at(-1) ?? 0) - (liveMiB[0] ?? 0);
  const mostOfAll = (valueOf: (result: AttackResult) => number) => Math.max(...results.map(valueOf));
  return [
    ...results.map((result) => mostOf(`${result.name}: worst health, ms`, worstOf(result), HEALTH_MAX_MS)),
    mostOf('growth of live memory, MiB', mostOfAll(growth), GROWTH_MAX_MIB),
    mostOf(
      'deleted outside the policy',
      mostOfAll(({ outside }) => outside),
      0,
    ),
    mostOf(
      'time to stop, s',
      mostOfAll(({ stopMs }) => stopMs / 1000),
      STOP_MAX_S,
    ),
  ];
}

function mostOf(name: string, measured: number, most: number): Target {
  return { name, wanted: `<= ${most}`, measured, reached: measured <= most };
}
