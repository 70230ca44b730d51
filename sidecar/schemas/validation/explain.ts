import type { FlatSchema } from '../json-schema/flatten.js';
import type { JsonValue } from '../../shared/json/json.js';
import { Explainer } from './explainer.js';
import { Place } from './place.js';
import { Spelling } from './spelling.js';
import { tidy } from './tidy.js';
import { sentenceOf } from './words.js';

/** Something that is wrong with a document, by its schema. */
export interface Explained {
  /** Reference tokens (RFC 6901) of the value that is wrong; of what lacks a member, when one is missing. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that asks for what is not so. */
  readonly keyword: string;
  /** The member that is missing. */
  readonly missing?: string;
  /** Set where it is said of the member that `tokens` lead to, and not of its value. */
  readonly ofMember?: true;
  /** Predicate of a sentence about the value: `must be at least 0, is -3`. Made when it is asked for. */
  readonly say: () => string;
}

/**
 * What is wrong with a document, one entry for each mistake, in no particular order; empty when nothing can be said of it,
 * which does not make it valid. At most some thousand.
 *
 * @param spelling finds what misspelt words are meant to be
 * @throws {RangeError} when document and schema together nest too deeply for the stack
 */
export function explain(
  { root, targets }: Pick<FlatSchema, 'root' | 'targets'>,
  document: JsonValue,
  spelling: Spelling = new Spelling(),
): readonly Explained[] {
  const faults = tidy(new Explainer(targets).faultsOf(root, new Place(document)), spelling);
  return faults.map(({ place, keyword, missing, ofMember, words }) => ({
    tokens: place.tokens,
    keyword,
    ...(missing === undefined ? {} : { missing }),
    ...(ofMember === undefined ? {} : { ofMember }),
    say: () => sentenceOf(words(spelling)),
  }));
}
