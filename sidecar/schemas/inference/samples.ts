import {
  type InputIssue,
  isArray,
  isObject,
  type JsonObject,
  jsonType,
  type JsonValue,
  pointerOf,
} from '../../shared/json/json.js';
import { INFERENCE_LIMITS, SamplesRefusedError } from './errors.js';

/** A sample, and the reference tokens that lead to it in the submitted document. */
interface PlacedSample {
  readonly sample: JsonObject;
  readonly tokens: readonly string[];
}

/**
 * Returns the samples of a document: an object is one sample, an array contains one per item.
 *
 * @param base reference tokens of the document within the submitted one
 * @throws {SamplesRefusedError} if there are no samples, or a sample is not an object, has a number that is out of
 * range or a name with a lone surrogate
 */
export function samplesIn(document: JsonValue, base: readonly string[] = []): readonly PlacedSample[] {
  const faults = new SampleFaults();
  const samples = placed(document, base).flatMap(({ value, tokens }): readonly PlacedSample[] => {
    if (isObject(value)) {
      addUnsound(value, [...tokens], faults);
      return [{ sample: value, tokens }];
    }
    faults.add(tokens, `must be a sample, which is an object; is ${kindOf(value)}`);
    return [];
  });
  if (isArray(document) && document.length === 0)
    faults.add(base, 'must contain at least one sample, is empty');
  faults.throwIfAny();
  return samples;
}

function placed(
  document: JsonValue,
  base: readonly string[],
): readonly { value: JsonValue; tokens: readonly string[] }[] {
  if (!isArray(document)) return [{ value: document, tokens: base }];
  return document.map((value, index) => ({ value, tokens: [...base, String(index)] }));
}

function kindOf(value: JsonValue): string {
  return value === null ? 'null' : isArray(value) ? 'an array' : `a ${jsonType(value)}`;
}

/**
 * Reports numbers such as 1e400, which become infinite when parsed, and names with lone surrogates, which cannot be
 * used in the URIs of a schema.
 *
 * @param path to the value; changed during the call and restored at its end, because a copy for each member would be
 * too expensive
 */
function addUnsound(value: JsonValue, path: string[], faults: SampleFaults): void {
  if (typeof value === 'number')
    faults.add(path, 'must be a number of the range of IEEE 754 doubles (RFC 8259, section 6)');
  if (isArray(value)) {
    for (const [index, inner] of value.entries()) {
      if (isSoundScalar(inner)) continue;
      path.push(String(index));
      addUnsound(inner, path, faults);
      path.pop();
    }
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      path.push(name);
      if (/\p{Surrogate}/u.test(name)) faults.add(path, 'must have a name without lone surrogates');
      if (!isSoundScalar(inner)) addUnsound(inner, path, faults);
      path.pop();
    }
  }
}

/** Whether the value is a scalar without faults. */
function isSoundScalar(value: JsonValue): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : !isArray(value) && !isObject(value);
}

/** Collects faults of samples: keeps the first ones, and counts all. */
export class SampleFaults {
  readonly #first: InputIssue[] = [];
  #count = 0;
  #pointersLength = 0;

  /** Adds a fault. @param tokens reference tokens of the place; used immediately, not kept */
  add(tokens: readonly string[], detail: string): void {
    this.#count += 1;
    if (this.#first.length === INFERENCE_LIMITS.faults) return;
    if (this.#pointersLength > INFERENCE_LIMITS.pointersLength) return;
    const pointer = pointerOf(tokens);
    this.#pointersLength += pointer.length;
    this.#first.push({ pointer, detail });
  }

  /** @throws {SamplesRefusedError} if there are any faults */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const { length } = this.#first;
    const listed = this.#count > length ? `, the first ${length === 1 ? 'is' : `${length} are`} listed` : '';
    const count = this.#count === 1 ? '1 fault' : `${this.#count} faults`;
    throw new SamplesRefusedError(
      'bodyInvalid',
      `No schema can be inferred: the samples have ${count}${listed}.`,
      this.#first,
    );
  }
}
