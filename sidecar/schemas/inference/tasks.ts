import type { JsonValue } from '../../shared/json/json.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';
import { SamplesRefusedError, type SampleFault } from './errors.js';
import { inferSchema, type SampleForm } from './infer-schema.js';

export interface InferInput {
  /** JSON: one sample, or an array of samples. */
  readonly text: string;
  readonly form: SampleForm;
  readonly enumerates: boolean;
  readonly model?: string;
}

export type InferOutcome =
  /** The text of the schema. */
  | { readonly answer: string }
  | { readonly unreadable: Unreadable }
  | {
      readonly refused: {
        readonly code: SamplesRefusedError['code'];
        /** What is wrong, in a sentence. */
        readonly detail: string;
        readonly errors: readonly SampleFault[];
      };
    };

/** Tasks on samples that are run in a worker, for they may be many. */
export const inferenceTasks = {
  /** The schema of samples; see `inferSchema`. */
  infer({ text, ...options }: InferInput): InferOutcome {
    const read = readJson(text);
    if ('unreadable' in read) return read;
    try {
      return { answer: JSON.stringify(inferSchema(read.value as JsonValue, options)) };
    } catch (error) {
      if (!(error instanceof SamplesRefusedError)) throw error;
      return { refused: { code: error.code, detail: error.message, errors: error.errors } };
    }
  },
};

export type InferenceTasks = typeof inferenceTasks;
