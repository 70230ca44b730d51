import type { InputIssue } from '../../shared/json/json.js';
import type { Refused as TaskRefused, TaskAnswer, TaskRefusal } from '../../shared/task-answer.js';
import { cut } from '../../shared/shown.js';
import type { ContextFailureKind, Needs, Supplied, Supply } from './errors.js';

type RefusalKind = ContextFailureKind | 'bodyInvalid' | 'dataDropped' | 'jsonLdInvalid' | 'limitExceeded';

/** Why a request is refused. */
export type Refusal = TaskRefusal<RefusalKind>;

export type Refused = TaskRefused<RefusalKind>;

/** The outcome of a task on a body; it may need contexts first. */
export type Outcome = TaskAnswer<RefusalKind> | Needs;

/** A request that is refused for faults at places of the body. @param subject the beginning of a sentence */
export function refusedFor(kind: RefusalKind, subject: string, errors: readonly InputIssue[]): Refused {
  return { refused: { kind, detail: `${subject}: ${errors[0]?.detail ?? 'no reason known'}`, errors } };
}

/** An effect of a request that its author may not expect. */
export interface JsonLdWarning {
  readonly code: string;
  readonly detail: string;
  /** Into the body; left out where it is not known. */
  readonly pointer?: string;
}

const MAX_WARNINGS = 100;

/** The warnings as they are answered: one for each place, the first hundred, and how many there are more. */
export function listed(warnings: readonly JsonLdWarning[]): readonly JsonLdWarning[] {
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

/** A JSON value in a sentence. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return 'nothing';
  return cut(text, 100);
}

/** Contexts lead to each other in chains that processors follow ten deep; and another worker may take each round. */
const MAX_ROUNDS = 16;
const MAX_URLS = 100;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Contexts that are got at the same time for one request. */
const AT_ONCE = 8;

/**
 * Runs a task again and again until it has all the contexts that it needs.
 *
 * @param run the task, with all that was supplied so far
 * @param supply gets the context of a URL, or says why there is none
 * @returns what the task ends with; a refusal when it needs too much
 * @throws whatever `run` and `supply` throw
 */
export async function runWithContexts<Outcome extends object>(
  run: (supplied: Supplied) => Promise<Outcome | Needs>,
  supply: (url: string) => Promise<Supply>,
): Promise<Outcome | Refused> {
  const supplied = new Map<string, Supply>();
  let characters = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const outcome = await run([...supplied]);
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
