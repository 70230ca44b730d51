import type { ModelKey, ModelSchema } from '../service/shapes.js';
import type { Workbench } from '../workbench/workbench.js';
import { refusalOf } from './refusals.js';
import type { ExampleFault, Examples } from './shapes.js';

interface Verdict {
  readonly valid: boolean;
  readonly errors: readonly { readonly pointer: string; readonly detail: string; readonly line?: number }[];
}

export interface Example {
  readonly path: string;
  readonly text: string;
}

/** Errors of one example that a report lists. */
const MAX_FAULTS = 5;

/**
 * Validates the examples of a model by its schema. Those called `.json` are NGSIv2 by convention, so what only NGSI-LD forbids is
 * not reported.
 *
 * @throws errors of the workers
 */
export async function checkExamples(
  examples: readonly Example[],
  { schema, key }: { readonly schema: ModelSchema; readonly key: ModelKey },
  {
    workbench,
    signal,
  }: { readonly workbench: Pick<Workbench, 'validateAgainst'>; readonly signal?: AbortSignal | undefined },
): Promise<Examples> {
  let valid = 0;
  const invalid: ExampleFault[] = [];
  for (const { path, text } of examples) {
    signal?.throwIfAborted();
    const faults = await faultsOf(path, text);
    if (faults.length === 0) valid += 1;
    else invalid.push(...faults);
  }
  return { valid, invalid };

  async function faultsOf(path: string, text: string): Promise<readonly ExampleFault[]> {
    try {
      const isStrict = path.endsWith('.jsonld');
      const answer = JSON.parse(await workbench.validateAgainst(schema, key, text, { isStrict })) as
        Verdict | readonly Verdict[];
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
