import { pointerOf } from '../../shared/json/pointer.js';
import { InvalidSamplesError, type SampleFault } from './errors.js';
import { INFERENCE_LIMITS } from './limits.js';

/** Gathers faults of samples; keeps the first ones, and how many there are. */
export class SampleFaults {
  readonly #first: SampleFault[] = [];
  #count = 0;
  #pointersLength = 0;
  #isFull = false;

  /** @param tokens reference tokens of the place; looked at now, and not kept */
  add(tokens: readonly string[], detail: string): void {
    this.#count += 1;
    if (this.#isFull) return;
    const shown = tokens.slice(0, shownCount(tokens));
    const pointer = pointerOf(shown);
    this.#pointersLength += pointer.length;
    this.#isFull =
      this.#first.length === INFERENCE_LIMITS.faults ||
      this.#pointersLength > INFERENCE_LIMITS.pointersLength;
    if (this.#isFull) return;
    const within =
      shown.length === tokens.length ? '' : 'holds a place, whose pointer is too long to be shown, that ';
    this.#first.push({ pointer, detail: `${within}${shortened(detail)}` });
  }

  /** @throws {InvalidSamplesError} when there is any */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const listed = this.#count > this.#first.length ? `, the first ${this.#first.length} are listed` : '';
    const count = this.#count === 1 ? '1 fault' : `${this.#count} faults`;
    throw new InvalidSamplesError(
      `No schema can be inferred: the samples have ${count}${listed}.`,
      this.#first,
    );
  }
}

/** How many tokens lead to the nearest place around, or the place itself, whose pointer is short enough. */
function shownCount(tokens: readonly string[]): number {
  let length = 0;
  const tooLong = tokens.findIndex((token) => (length += token.length + 1) > INFERENCE_LIMITS.pointerLength);
  return tooLong === -1 ? tokens.length : tooLong;
}

function shortened(detail: string): string {
  const most = INFERENCE_LIMITS.detailLength;
  return detail.length <= most ? detail : `${detail.slice(0, most)}…`;
}
