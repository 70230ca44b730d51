import type { UsedTime } from '../../shared/clock.js';
import type { InputIssue } from '../../shared/json/json.js';
import type { Refused as TaskRefused, TaskAnswer, TaskRefusal } from '../../shared/task-answer.js';
import { truncate } from '../../shared/format-value.js';
import type { ContextFailureKind, Needs, ContextResults, ContextResult } from './errors.js';

type RefusalKind = ContextFailureKind | 'bodyInvalid' | 'dataDropped' | 'jsonLdInvalid' | 'limitExceeded';

/** Why a request is refused. */
export type Refusal = TaskRefusal<RefusalKind>;

export type Refused = TaskRefused<RefusalKind>;

/** The outcome of a task on a body; the task may need contexts first. */
export type Outcome = TaskAnswer<RefusalKind> | Needs;

/** Refuses a request because of faults in its body. @param subject the beginning of the sentence */
export function refusedFor(kind: RefusalKind, subject: string, errors: readonly InputIssue[]): Refused {
  return { refused: { kind, detail: `${subject}: ${errors[0]?.detail ?? 'no reason known'}`, errors } };
}

/** An effect of a request that its author may not expect. */
export interface JsonLdWarning {
  readonly code: string;
  readonly detail: string;
  /** JSON pointer into the body; undefined if the place is not known. */
  readonly pointer?: string;
}

const MAX_WARNINGS = 100;

/** The warnings for an answer: one for each place, at most a hundred, and the number of further ones. */
export function limitWarnings(warnings: readonly JsonLdWarning[]): readonly JsonLdWarning[] {
  const seen = new Set<string>();
  const distinct = warnings.filter(({ pointer }) => {
    if (pointer === undefined) return true;
    const isNew = !seen.has(pointer);
    seen.add(pointer);
    return isNew;
  });
  const more = distinct.length - MAX_WARNINGS;
  return more <= 0
    ? distinct
    : [
        ...distinct.slice(0, MAX_WARNINGS),
        { code: 'more-warnings', detail: `At least ${more} more warnings are not listed.` },
      ];
}

/** A JSON value as shown in a sentence. */
export function shortJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return 'nothing';
  return truncate(text, 100);
}

/** Maximum number of rounds. Processors follow chains of ten contexts, and each round may run in another worker. */
const MAX_ROUNDS = 16;
const MAX_URLS = 100;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Maximum number of contexts fetched at the same time for one request. */
const AT_ONCE = 8;

/**
 * Runs a task repeatedly until it has all the contexts that it needs.
 *
 * @param run runs the task with everything supplied so far, and with the time that all its runs have together
 * @param supply returns the context of a URL, or why there is none
 * @param time what tasks before have used of that time
 * @returns the final outcome of the task; a refusal if it needs too much
 * @throws whatever `run` and `supply` throw
 */
export async function runWithContexts<Outcome extends object>(
  run: (supplied: ContextResults, time: UsedTime) => Promise<Outcome | Needs>,
  supply: (url: string) => Promise<ContextResult>,
  time: UsedTime = { usedMs: 0 },
): Promise<Outcome | Refused> {
  const supplied = new Map<string, ContextResult>();
  let characters = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const outcome = await run([...supplied], time);
    if (!('needs' in outcome)) return outcome;
    const urls = [...new Set(outcome.needs.urls)].filter((url) => !supplied.has(url));
    if (urls.length === 0) throw new Error('A task needs contexts that it was given.');
    if (supplied.size + urls.length > MAX_URLS) return refused(`more than ${MAX_URLS} others by their URLs`);
    for (let from = 0; from < urls.length; from += AT_ONCE) {
      const some = urls.slice(from, from + AT_ONCE);
      for (const [url, found] of await Promise.all(
        some.map(async (one) => [one, await supply(one)] as const),
      )) {
        supplied.set(url, found);
        characters += 'text' in found ? found.text.length : 0;
      }
      if (characters > MAX_CHARACTERS) return refused(`more than ${MAX_CHARACTERS} characters of others`);
    }
  }
  return refused('others in too long a chain');
}

function refused(what: string): Refused {
  return { refused: { kind: 'limitExceeded', detail: `The contexts lead to ${what}.`, errors: [] } };
}
