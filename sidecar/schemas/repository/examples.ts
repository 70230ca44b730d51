import { defined } from '../../shared/defined.js';
import { MAX_EXAMPLES, type ModelKey, type NewExample, type NewExamples } from '../../store/index.js';
import {
  DeadlineExceededError,
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

/** The examples of a model that an import stores, and the files that it does not. */
export interface KeptExamples {
  /** Undefined if there are none to store; the existing examples of the model then stay. */
  readonly kept: NewExamples | undefined;
  readonly leftOut: NonNullable<Examples['leftOut']>;
}

/**
 * Selects the examples of a model to store: those that are possible, in order of path, up to the maximum of a model. It
 * does not matter whether they are valid.
 */
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
  if (kept.has(name)) return `Another example of the model is also called ${name}.`;
  return kept.size < MAX_EXAMPLES ? undefined : `A model has at most ${MAX_EXAMPLES} examples.`;
}

/** Number of examples of an import that exceed their deadline, after which the others are not checked. */
const MAX_SLOW = 4;

/** How many examples of one import, over all its models, have exceeded their deadline. */
export interface SlowExamples {
  count: number;
}

/** Number of examples validated at the same time; a worker gets them in one message. */
const AT_ONCE = 4;

/** Maximum number of errors of one example in a report. */
const MAX_FAULTS = 5;

interface Checking {
  readonly workbench: Pick<Workbench, 'validateAgainst'>;
  readonly slow: SlowExamples;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Validates the examples of a model against its schema. Those named `.json` are NGSIv2 by convention, so violations of
 * NGSI-LD alone are not reported. After some slow ones, the remaining examples of the import are skipped.
 *
 * @throws errors of the workers
 */
export async function checkExamples(
  examples: readonly Pick<Example, 'path' | 'text'>[],
  { schema, key }: { readonly schema: ModelSchema; readonly key: ModelKey },
  { workbench, slow, signal }: Checking,
): Promise<Pick<Examples, 'valid' | 'invalid' | 'unchecked'>> {
  let valid = 0;
  const unchecked: string[] = [];
  const invalid: ExampleFault[] = [];
  for (let from = 0; from < examples.length; from += AT_ONCE) {
    const some = examples.slice(from, from + AT_ONCE);
    signal?.throwIfAborted();
    if (slow.count >= MAX_SLOW) {
      unchecked.push(...some.map(({ path }) => path));
      continue;
    }
    const found = await Promise.all(some.map(({ path, text }) => faultsOf(path, text)));
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
      return errors
        .slice(0, MAX_FAULTS)
        .map(({ pointer, detail, line }) => ({ path, pointer, detail, ...defined({ line }) }));
    } catch (error) {
      if (error instanceof DeadlineExceededError) slow.count += 1;
      // It is not an entity at all, or is too slow to validate.
      const { reason, line } = refusalOf(error, text, '');
      return [{ path, pointer: '', detail: reason, ...defined({ line }) }];
    }
  }
}
