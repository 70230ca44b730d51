import type { Spread } from './statistics.js';

/** Something that must hold, and what was measured. */
export interface Target {
  readonly name: string;
  /** For people, e.g. `>= 0.8`. */
  readonly wanted: string;
  readonly measured: number;
  readonly spread?: Spread;
  readonly reached: boolean;
}

/** Rows for people; numbers already written out. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface BenchResult {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** The measurements themselves, for the JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface BenchOptions {
  /** How often everything is measured; each bench says what one round is. */
  readonly rounds: number;
  /** Of a bench with parts, those whose names contain this. */
  readonly only: string;
  /** Tells people what is going on. */
  readonly say: (text: string) => void;
}

/** A named bench. */
export interface Bench {
  readonly name: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

/** A target for a ratio measured once in every round: its median has to be at least `least`. */
export function ratioTarget(name: string, spread: Spread, least: number): Target {
  return { name, wanted: `>= ${least}`, measured: spread.median, spread, reached: spread.median >= least };
}

/** A target for a ratio measured once in every round: its median may be at most `most`. */
export function mostTarget(name: string, spread: Spread, most: number): Target {
  return { name, wanted: `<= ${most}`, measured: spread.median, spread, reached: spread.median <= most };
}
