import { isArray, isObject, type JsonObject, type JsonValue } from '../json-schema/json.js';
import { pointerOf } from '../json-schema/pointer.js';
import { InvalidSamplesError, type SampleFault } from './errors.js';
import { INFERENCE_LIMITS } from './limits.js';

/** A sample, and the reference tokens that lead to it in the submitted document. */
export interface PlacedSample {
  readonly sample: JsonObject;
  readonly tokens: readonly string[];
}

/** Gathers faults of samples; keeps the first ones, and how many there are. */
export class SampleFaults {
  readonly #first: SampleFault[] = [];
  #count = 0;

  add(tokens: readonly string[], detail: string): void {
    this.#count += 1;
    if (this.#first.length < INFERENCE_LIMITS.faults)
      this.#first.push({ pointer: pointerOf(tokens), detail });
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

/**
 * The samples of a document: an object is one, and each item of an array.
 *
 * @throws {InvalidSamplesError} when there is none, or one is no object or has a number that is out of range
 */
export function samplesIn(document: JsonValue): readonly PlacedSample[] {
  const faults = new SampleFaults();
  const samples = placed(document).flatMap(({ value, tokens }): readonly PlacedSample[] => {
    if (!isObject(value)) faults.add(tokens, `must be a sample, which is an object; is ${kindOf(value)}`);
    else if (allFinite(value)) return [{ sample: value, tokens }];
    else addInfinite(value, tokens, faults);
    return [];
  });
  if (isArray(document) && document.length === 0) faults.add([], 'must hold at least one sample, is empty');
  faults.throwIfAny();
  return samples;
}

function placed(document: JsonValue): readonly { value: JsonValue; tokens: readonly string[] }[] {
  if (!isArray(document)) return [{ value: document, tokens: [] }];
  return document.map((value, index) => ({ value, tokens: [String(index)] }));
}

function kindOf(value: JsonValue): string {
  return value === null ? 'null' : isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Numbers such as 1e400 become infinite when they are read. */
function allFinite(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return isArray(value) ? value.every(allFinite) : Object.values(value).every(allFinite);
}

function addInfinite(value: JsonValue, tokens: readonly string[], faults: SampleFaults): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    faults.add(tokens, 'must be a number of the range of IEEE 754 doubles (RFC 8259, section 6)');
  if (typeof value !== 'object' || value === null) return;
  for (const [token, inner] of Object.entries(value)) addInfinite(inner, [...tokens, token], faults);
}
