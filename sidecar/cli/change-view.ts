import type { Schemas } from '../client/operations.js';
import { writeJson } from '../shared/json/lossless-json.js';
import { truncate } from '../shared/format-value.js';

/** Maximum number of characters of a witness in text output; `--json` has the whole witness. */
const MAX_WITNESS = 400;

/** Formats the differences of a model for people, one per line, each followed by an entity that shows it if there is one. */
export function differenceLines(differences: readonly Schemas['Difference'][]): readonly string[] {
  return differences.flatMap((difference) => {
    const { pointer, detail, reason, witness } = difference;
    const labels = [difference.class, reason];
    const what = `${pointer === '' ? '(whole)' : pointer}: ${detail}`;
    return [
      `${labels.join(', ')}: ${what}`,
      ...(witness === undefined ? [] : [`  no longer valid: ${truncate(writeJson(witness), MAX_WITNESS)}`]),
    ];
  });
}
