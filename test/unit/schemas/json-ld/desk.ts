import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  type JsonLdWarning,
  type Outcome,
  type Refusal,
  runWithContexts,
} from '../../../../sidecar/schemas/json-ld/outcomes.js';
import { createProcessor, type JsonLdProcessor } from '../../../../sidecar/schemas/json-ld/processor.js';
import type { CheckedContext, CheckOutcome } from '../../../../sidecar/schemas/json-ld/check-context.js';
import { ContextInvalidError, type ContextResult } from '../../../../sidecar/schemas/json-ld/errors.js';
import { createJsonLdTasks } from '../../../../sidecar/schemas/json-ld/tasks.js';
import { loaderOf } from './contexts.js';

export interface Body {
  readonly document?: unknown;
  readonly context?: unknown;
  readonly safe?: unknown;
}

export interface Answer {
  readonly result: unknown;
  readonly warnings: readonly JsonLdWarning[];
}

/** The tasks of one worker, and a replacement of the main thread: contexts by their URLs, which may be changed. */
export class Desk {
  readonly tasks = createJsonLdTasks();
  readonly contexts: Map<string, unknown>;
  /** The URLs that were requested, in order. */
  readonly asked: string[] = [];
  stamp = '1';

  constructor(contexts: Readonly<Record<string, unknown>> = {}) {
    this.contexts = new Map(Object.entries(contexts));
  }

  /** Gives a URL another meaning, as a write to the store would. */
  set(url: string, context: unknown): void {
    if (context === undefined) this.contexts.delete(url);
    else this.contexts.set(url, context);
    this.stamp += '+';
  }

  readonly supply = async (url: string): Promise<ContextResult> => {
    this.asked.push(url);
    if (!this.contexts.has(url))
      return { failure: { kind: 'contextRefused', detail: `There is no ${url}.` } };
    const text = JSON.stringify({ '@context': this.contexts.get(url) });
    return { sha256: createHash('sha256').update(text).digest('hex'), text };
  };

  outcome(kind: 'expandDocument' | 'compactDocument', body: Body | string): Promise<Outcome> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { stamp } = this;
    return runWithContexts<Outcome>((supplied) => this.tasks[kind]({ text, stamp, supplied }), this.supply);
  }

  /** The result of checking a context. @throws ContextInvalidError */
  async check(submitted: unknown, pointer = ''): Promise<CheckedContext> {
    const text = JSON.stringify(submitted);
    const outcome = await runWithContexts<CheckOutcome>(
      (supplied) => this.tasks.checkContext({ text, pointer, supplied }),
      this.supply,
    );
    if ('invalid' in outcome) throw new ContextInvalidError(outcome.invalid);
    assert.ok('checked' in outcome, JSON.stringify(outcome).slice(0, 500));
    return outcome.checked;
  }

  async expand(body: Body): Promise<Answer> {
    return answered(await this.outcome('expandDocument', body));
  }

  async compact(body: Body): Promise<Answer> {
    return answered(await this.outcome('compactDocument', body));
  }

  async refused(kind: 'expandDocument' | 'compactDocument', body: Body): Promise<Refusal> {
    const outcome = await this.outcome(kind, body);
    assert.ok('refused' in outcome, JSON.stringify(outcome).slice(0, 500));
    return outcome.refused;
  }
}

export function answered(outcome: Outcome): Answer {
  assert.ok('answer' in outcome, JSON.stringify(outcome).slice(0, 500));
  return JSON.parse(outcome.answer) as Answer;
}

/** The package alone, with the same contexts. */
export function bare(contexts: Readonly<Record<string, unknown>> = {}): {
  readonly expand: (document: object, context?: unknown) => Promise<unknown>;
  readonly compact: (document: object, context: unknown) => Promise<unknown>;
} {
  const documentLoader = loaderOf(contexts);
  const fresh = (): JsonLdProcessor => createProcessor();
  return {
    expand: (document, context) =>
      fresh().expand(document, {
        documentLoader,
        ...(context === undefined ? {} : { expandContext: context }),
      }),
    compact: (document, context) => fresh().compact(document, context, { documentLoader }),
  };
}

/** [code, pointer]` of each warning. */
export function placesOf(warnings: readonly JsonLdWarning[]): readonly (readonly [string, string?])[] {
  return warnings.map(({ code, pointer }) => (pointer === undefined ? [code] : [code, pointer]));
}
