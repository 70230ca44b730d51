import type { JsonObject } from '../../shared/json/json.js';
import { tokensOf } from '../../shared/json/pointer.js';
import { explain, type Explained } from './explain.js';
import type { Model, ModelError } from './model.js';
import type { Spelling } from './spelling.js';

/** What the validator found first, explained; where no better words are found, in its own. */
export function explainSafely(
  { flat }: Model,
  keyValues: JsonObject,
  first: ModelError,
  spelling: Spelling,
): readonly Explained[] {
  const explained = explainedOrNone(flat, keyValues, spelling);
  return explained.length > 0 ? explained : inOwnWords(first);
}

export function inOwnWords({
  instancePath,
  keyword,
  message = 'is not valid',
}: ModelError): readonly Explained[] {
  return [{ tokens: tokensOf(instancePath) ?? [], keyword, say: () => message }];
}

function explainedOrNone(
  flat: Model['flat'],
  keyValues: JsonObject,
  spelling: Spelling,
): readonly Explained[] {
  try {
    return explain(flat, keyValues, spelling);
  } catch (error) {
    // Going through schema and document takes more of the stack than the compiled validator does.
    if (error instanceof RangeError) return [];
    throw error;
  }
}
