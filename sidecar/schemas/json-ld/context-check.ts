import { type InputIssue, isObject, type JsonObject, pointerTo } from '../../shared/json/json.js';
import { dependenciesFirst } from './context-safety.js';
import { KEYWORD_OF_CODE, processingErrorOf, sentenceOf, type ProcessingError } from './processing-errors.js';
import { createProcessor, type DocumentLoader } from './processor.js';

/** One element of a context and where it stands. */
interface Element {
  readonly value: unknown;
  readonly pointer: string;
}

/**
 * Has the processor process a context with nothing else in the document (JSON-LD 1.1 API § 4.1).
 *
 * @returns what is wrong with it, at the term at fault; undefined for a valid context
 */
export async function processingFault(
  value: unknown,
  pointer: string,
  load: DocumentLoader,
): Promise<InputIssue | undefined> {
  const elements: readonly Element[] = Array.isArray(value)
    ? value.map((item: unknown, index) => ({ value: item, pointer: pointerTo(pointer, index) }))
    : [{ value, pointer }];
  const errorOf = (contexts: readonly unknown[]) => processingError(contexts, load);
  const values = elements.map((element) => element.value);
  const whole = await errorOf(values);
  if (whole === undefined) return undefined;

  const count = await firstFailing(values.length, async (k) => errorOf(values.slice(0, k)));
  const element = elements[count - 1] ?? { value, pointer };
  const before = values.slice(0, count - 1);
  const error = (await errorOf([...before, element.value])) ?? whole;
  return isObject(element.value)
    ? faultInMap(element.value, element.pointer, error, async (map) => errorOf([...before, map]))
    : { pointer: element.pointer, detail: `In ${String(element.value)}: ${sentenceOf(error)}` };
}

/** Narrows the error of a map down to a keyword, or to the first term that fails, each after those it depends on. */
async function faultInMap(
  map: JsonObject,
  pointer: string,
  error: ProcessingError,
  errorOf: (map: object) => Promise<ProcessingError | undefined>,
): Promise<InputIssue> {
  const keywords = Object.entries(map).filter(([name]) => name.startsWith('@'));
  const keywordError = await errorOf(Object.fromEntries(keywords));
  if (keywordError !== undefined) {
    // Faults of terms can only be in what is imported.
    const { term, code } = keywordError;
    const name = [term, KEYWORD_OF_CODE.get(code), '@import'].find(
      (found) => found !== undefined && Object.hasOwn(map, found),
    );
    const at = name === undefined ? pointer : pointerTo(pointer, name);
    return { pointer: at, detail: sentenceOf(keywordError) };
  }
  const terms = dependenciesFirst(map);
  const withFirst = (count: number) =>
    Object.fromEntries([...keywords, ...terms.slice(0, count).map((term) => [term, map[term]] as const)]);
  const count = await firstFailing(terms.length, async (k) => errorOf(withFirst(k)));
  const termError = (await errorOf(withFirst(count))) ?? error;
  const term = terms.slice(count - 1, count);
  const inside = termError.code === 'invalid scoped context' ? ['@context'] : [];
  return { pointer: pointerTo(pointer, ...term, ...inside), detail: sentenceOf(termError) };
}

/** The least count that fails, by halving: what fails goes on to fail when more is added. `most` is known to fail. */
async function firstFailing(
  most: number,
  errorOf: (count: number) => Promise<ProcessingError | undefined>,
): Promise<number> {
  let [passing, failing] = [0, most];
  while (failing - passing > 1) {
    const middle = Math.floor((passing + failing) / 2);
    if ((await errorOf(middle)) === undefined) passing = middle;
    else failing = middle;
  }
  return failing;
}

/**
 * What the processor says of contexts, in order, with nothing else in the document; undefined when all is well. Errors of
 * the loader count as the processor's, which does not always distinguish them.
 *
 * A new processor each time: a cached context would hide that what it imports has changed.
 */
export async function processingError(
  contexts: readonly unknown[],
  load: DocumentLoader,
): Promise<ProcessingError | undefined> {
  try {
    await createProcessor().expand({ '@context': contexts }, { documentLoader: load });
    return undefined;
  } catch (error) {
    return processingErrorOf(error);
  }
}
