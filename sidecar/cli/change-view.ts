import type { Schemas } from '../client/operations.js';
import { writeJson } from '../shared/json/lossless-json.js';
import { cut } from '../shared/shown.js';

/** Characters of a witness that a text shows; with `--json` it is whole. */
const MAX_WITNESS = 400;

/** Differences of a model for people, one a line, each with an entity that shows it where there is one. */
export function differenceLines(differences: readonly Schemas['Difference'][]): readonly string[] {
  return differences.flatMap((difference) => {
    const { pointer, detail, reason, witness } = difference;
    const labels = [difference.class, reason];
    const what = `${pointer === '' ? '(whole)' : pointer}: ${detail}`;
    return [
      `${labels.join(', ')}: ${what}`,
      ...(witness === undefined ? [] : [`  no longer valid: ${cut(writeJson(witness), MAX_WITNESS)}`]),
    ];
  });
}
