import type { Spread } from './statistics.js';

/** A condition that must hold, and the measured value. */
export interface Target {
  readonly name: string;
  /** The condition for people, e.g. `>= 0.8`. */
  readonly wanted: string;
  readonly measured: number;
  readonly spread?: Spread;
  readonly reached: boolean;
}

/** Rows for people; numbers are already formatted. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface BenchResult {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** The raw measurements, for the JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** How often a bench measures, which of its parts it runs, and where it reports progress. */
export interface BenchOptions {
  /** How often everything is measured; each bench defines what a round is. */
  readonly rounds: number;
  /** For a bench with parts: only the parts whose names contain this text. */
  readonly only: string;
  /** Reports progress. */
  readonly log: (text: string) => void;
}

/** A named bench. */
export interface Bench {
  readonly name: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

/** Makes a target for a ratio that is measured once per round: its median has to be at least `least`. */
export function minTarget(name: string, spread: Spread, least: number): Target {
  return { name, wanted: `>= ${least}`, measured: spread.median, spread, reached: spread.median >= least };
}

/** Makes a target for a ratio that is measured once per round: its median may be at most `most`. */
export function maxTarget(name: string, spread: Spread, most: number): Target {
  return { name, wanted: `<= ${most}`, measured: spread.median, spread, reached: spread.median <= most };
}
