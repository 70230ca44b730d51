import { writeJson } from '../shared/json/lossless-json.js';
import { cut } from '../shared/shown.js';

/** Characters of a witness that a text shows; with `--json` it is whole. */
const MAX_WITNESS = 400;

/** A difference as a gateway reports it. */
export interface ReportedDifference {
  readonly pointer: string;
  readonly detail: string;
  /** `compatible`, `narrowing` or `breaking`. */
  readonly class?: string;
  /** What gateways before called the class. */
  readonly kind?: string;
  /** What it is about, such as `meaning`. */
  readonly reason?: string;
  /** An entity that was valid, and is not any more. */
  readonly witness?: unknown;
}

/** Differences of a model for people, one a line, each with an entity that shows it where there is one. */
export function differenceLines(differences: readonly ReportedDifference[]): readonly string[] {
  return differences.flatMap((difference) => {
    const { pointer, detail, reason, witness } = difference;
    const labels = [difference.class ?? difference.kind, reason].filter((label) => label !== undefined);
    const what = `${pointer === '' ? '(whole)' : pointer}: ${detail}`;
    return [
      labels.length === 0 ? what : `${labels.join(', ')}: ${what}`,
      ...(witness === undefined ? [] : [`  not valid any more: ${cut(writeJson(witness), MAX_WITNESS)}`]),
    ];
  });
}
