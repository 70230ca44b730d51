import assert from 'node:assert/strict';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import { type ValidateInput, validationTasks } from '../../../../sidecar/schemas/validation/tasks.js';

/** An error or a warning in the form of answers. */
export interface Entry {
  readonly pointer: string;
  readonly detail: string;
  readonly keyword?: string;
  readonly code?: string;
  readonly line: number;
  readonly column: number;
  readonly suggestion?: { readonly value?: JsonValue; readonly name?: string };
}

export interface Verdict {
  readonly valid: boolean;
  readonly form: string;
  readonly models?: readonly string[];
  readonly errors: readonly Entry[];
  readonly warnings: readonly Entry[];
}

type Options = Partial<Pick<ValidateInput, 'form' | 'isStrict'>>;

/** A model of one schema, as the worker uses it for validation. @param name of the model */
export function validatorOf(name: string, schema: JsonValue | string) {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
  const input = (body: string, options: Options = {}): ValidateInput => ({
    text: body,
    models: [{ key: text, name }],
    schemas: [[text, text]],
    ...options,
  });
  return {
    outcome: (body: string, options?: Options) => validationTasks.validate(input(body, options)),
    /** The same for the text of a body. */
    verdicts(body: string, options?: Options): readonly Verdict[] {
      const outcome = validationTasks.validate(input(body, options));
      assert.ok('answer' in outcome, JSON.stringify(outcome).slice(0, 500));
      return [JSON.parse(outcome.answer) as Verdict | Verdict[]].flat();
    },
    verdict(entity: JsonValue | string, options?: Options): Verdict {
      const body = typeof entity === 'string' ? entity : JSON.stringify(entity);
      return this.verdicts(body, options)[0] ?? assert.fail('There is no verdict.');
    },
  };
}
