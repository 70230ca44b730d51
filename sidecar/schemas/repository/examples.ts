import type { Clock } from '../../shared/clock.js';
import { MAX_EXAMPLES, type ModelKey, type NewExample, type NewExamples } from '../../store/index.js';
import {
  EXAMPLE_NAME_RULE,
  isExampleName,
  isStrictExample,
  MAX_EXAMPLE_BYTES,
  type ModelSchema,
  type Workbench,
} from '../models/index.js';
import type { PlannedExample } from './import-plan.js';
import { refusalOf } from './refusals.js';
import type { ExampleFault, Examples } from './shapes.js';

interface Verdict {
  readonly errors: readonly { readonly pointer: string; readonly detail: string; readonly line?: number }[];
}

export interface Example extends PlannedExample {
  readonly text: string;
}

/** The examples of a model that an import keeps, and the files that it leaves out. */
export interface KeptExamples {
  /** Undefined where there is none to keep: those that the model has stay. */
  readonly kept: NewExamples | undefined;
  readonly leftOut: NonNullable<Examples['leftOut']>;
}

/** Which examples of a model are kept: those that can be, by path, as many as a model may have. Valid or not does not matter. */
export function keptExamples(examples: readonly Example[]): KeptExamples {
  const kept = new Map<string, NewExample>();
  const leftOut: { path: string; reason: string }[] = [];
  for (const { path, name, text, form } of examples) {
    const reason = reasonAgainst(name, text, kept);
    if (reason === undefined) kept.set(name, { text, form });
    else leftOut.push({ path, reason });
  }
  return { kept: kept.size === 0 ? undefined : kept, leftOut };
}

function reasonAgainst(name: string, text: string, kept: NewExamples): string | undefined {
  if (!isExampleName(name)) return `The name of an example must be ${EXAMPLE_NAME_RULE}.`;
  if (Buffer.byteLength(text) > MAX_EXAMPLE_BYTES) return `It has more than ${MAX_EXAMPLE_BYTES} bytes.`;
  if (kept.has(name)) return `Another example of the model is called ${name} as well.`;
  return kept.size < MAX_EXAMPLES ? undefined : `A model has at most ${MAX_EXAMPLES} examples.`;
}

/** The time for all examples of an import: so many deadlines of a task, and so many milliseconds for each example. */
const DEADLINES = 2;
const MS_EACH = 100;

/** How many times as long they may take on a busy machine. */
const MAX_SLOWNESS = 4;

/**
 * The time that the examples of one import share, so that slow ones cannot keep others from importing. While this process gets no
 * processor, the machine is slow, and not the examples: less of the time is spent then.
 */
export class ExampleTime {
  readonly #clock: Clock;
  #leftMs: number;
  #leftOnTheClockMs: number;

  /** @param deadlineMs of one task; @param count of the examples */
  constructor(clock: Clock, deadlineMs: number, count: number) {
    this.#clock = clock;
    this.#leftMs = DEADLINES * deadlineMs + MS_EACH * count;
    this.#leftOnTheClockMs = MAX_SLOWNESS * this.#leftMs;
  }

  get isUp(): boolean {
    return this.#leftMs <= 0 || this.#leftOnTheClockMs <= 0;
  }

  /** Runs work that counts. */
  async spend<Result>(work: () => Promise<Result>): Promise<Result> {
    const clock = this.#clock;
    const [start, hadBefore] = [clock.monotonicMs(), clock.processTimeMs?.()];
    try {
      return await work();
    } finally {
      const passedMs = clock.monotonicMs() - start;
      const hadMs = hadBefore === undefined ? undefined : clock.processTimeMs?.();
      // Several threads may have had more than passed.
      this.#leftMs -= Math.min(passedMs, (hadMs ?? Infinity) - (hadBefore ?? 0));
      this.#leftOnTheClockMs -= passedMs;
    }
  }
}

/** Examples of a model that are validated at a time: a worker gets them in one message. */
const AT_ONCE = 4;

/** Errors of one example that a report lists. */
const MAX_FAULTS = 5;

interface Checking {
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
  readonly time: ExampleTime;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Validates the examples of a model by its schema. Those called `.json` are NGSIv2 by convention, so what only NGSI-LD forbids is
 * not reported. When the time is up, the others are skipped.
 *
 * @throws errors of the workers
 */
export async function checkExamples(
  examples: readonly Pick<Example, 'path' | 'text'>[],
  { schema, key }: { readonly schema: ModelSchema; readonly key: ModelKey },
  { workbench, time, signal }: Checking,
): Promise<Pick<Examples, 'valid' | 'invalid' | 'unchecked'>> {
  let valid = 0;
  const unchecked: string[] = [];
  const invalid: ExampleFault[] = [];
  for (let from = 0; from < examples.length; from += AT_ONCE) {
    const some = examples.slice(from, from + AT_ONCE);
    signal?.throwIfAborted();
    if (time.isUp) {
      unchecked.push(...some.map(({ path }) => path));
      continue;
    }
    const found = await time.spend(() => Promise.all(some.map(({ path, text }) => faultsOf(path, text))));
    valid += found.filter(({ length }) => length === 0).length;
    invalid.push(...found.flat());
  }
  return { valid, invalid, ...(unchecked.length === 0 ? {} : { unchecked }) };

  async function faultsOf(path: string, text: string): Promise<readonly ExampleFault[]> {
    try {
      const isStrict = isStrictExample(path);
      const answer = JSON.parse(await workbench.validateAgainst(schema, key, text, { isStrict })) as
        | Verdict
        | readonly Verdict[];
      const errors = [answer].flat().flatMap((verdict) => verdict.errors);
      return errors.slice(0, MAX_FAULTS).map(({ pointer, detail, line }) => ({
        path,
        pointer,
        detail,
        ...(line === undefined ? {} : { line }),
      }));
    } catch (error) {
      // Not an entity at all, or too slow to validate.
      const { reason, line } = refusalOf(error, text, '');
      return [{ path, pointer: '', detail: reason, ...(line === undefined ? {} : { line }) }];
    }
  }
}
