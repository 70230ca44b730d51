import type { Refused } from './outcomes.js';
import type { Needs, Supplied, Supply } from './supplied.js';

/** Contexts lead to each other in chains that processors follow ten deep; and another worker may take each round. */
const MOST_ROUNDS = 16;
const MOST_URLS = 100;
const MOST_CHARACTERS = 16 * 1024 * 1024;
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
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const outcome = await run([...supplied]);
    if (!('needs' in outcome)) return outcome;
    const urls = [...new Set(outcome.needs.urls)].filter((url) => !supplied.has(url));
    if (urls.length === 0) throw new Error('A task needs contexts that it was given.');
    if (supplied.size + urls.length > MOST_URLS)
      return refused(`more than ${MOST_URLS} others by their URLs`);
    for (let from = 0; from < urls.length; from += AT_ONCE) {
      const some = urls.slice(from, from + AT_ONCE);
      for (const [url, found] of await Promise.all(
        some.map(async (one) => [one, await supply(one)] as const),
      )) {
        supplied.set(url, found);
        characters += 'text' in found ? found.text.length : 0;
      }
      if (characters > MOST_CHARACTERS) return refused(`more than ${MOST_CHARACTERS} characters of others`);
    }
  }
  return refused('others in too long a chain');
}

function refused(what: string): Refused {
  return { refused: { code: 'LIMIT_EXCEEDED', detail: `The contexts lead to ${what}.` } };
}
