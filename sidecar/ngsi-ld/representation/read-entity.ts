import type { AttributeKind } from '../attribute-kinds.js';
import type { JsonObject } from '../../shared/json/json.js';
import { NO_OWN_ATTRIBUTES } from '../entity-members.js';
import { checkAttribute } from './attribute-checks.js';
import { checkEntityMember, checkPresence } from './entity-checks.js';
import { Findings, type EntityWarning, type Finding } from './findings.js';
import { guessForm, type Form } from './form.js';
import { KeyValues } from './key-values.js';
import { warnOfName } from './member-checks.js';

/** How an entity is to be read. */
export interface ReadOptions {
  /** Detected when it is not given. `normalized` takes no concise attributes; a detected form does, as brokers do. */
  readonly form?: Form;
  /** The type that the entity must have, alone or among others. It becomes the `type` that schemas see. */
  readonly model?: string;
  /**
   * Whether the model describes the value itself of a LanguageProperty, VocabProperty or JsonProperty, not the object with
   * a languageMap, vocab or json that the key-values form wraps it in (clause 4.5.4). Never, when it is not given. Asked
   * for any attribute; has an effect on those alone.
   */
  readonly unwraps?: (attribute: string) => boolean;
}

/** One view of an entity in key-values form (clause 4.5.4), to be held against a schema. */
export interface Reading {
  /** Without `@context`. `@id` and `@type` are `id` and `type`. What could not be converted is there as submitted. */
  readonly keyValues: JsonObject;
  /**
   * Where something in `keyValues` stands in the entity as submitted. A member that is not there stands below where its
   * object does.
   */
  readonly locate: (tokens: readonly string[]) => readonly string[];
  /** Set for further instances of an attribute (datasetId); all other attributes are as in the first reading. */
  readonly attribute?: string;
  /** Where that instance stands in the entity as submitted. */
  readonly instance?: readonly string[];
}

/** The result of reading an entity, independent of its model. */
export interface EntityReading {
  readonly form: Form;
  /** In document order, one for each fault; at most {@link MAX_FINDINGS}. */
  readonly faults: readonly Finding[];
  readonly warnings: readonly EntityWarning[];
  /** First the one with all attributes in their default instance, or first; then one for each further instance. */
  readonly readings: readonly [Reading, ...Reading[]];
  /** Attributes with more instances than are read. */
  readonly leftOut: readonly LeftOut[];
  /** What kind each attribute was sent as, its default instance if there are several. Empty in key-values form. */
  readonly kinds: ReadonlyMap<string, AttributeKind>;
}

/** An attribute with more instances than are read. */
export interface LeftOut {
  readonly attribute: string;
  /** How many are read, the one in the first reading included. */
  readonly read: number;
}

/** Most further instances that are read. */
const MAX_FURTHER_READINGS = 1000;
/** Most members that all readings have together, for each of them holds the whole entity. */
const MAX_READ_MEMBERS = 200_000;

/**
 * Reads an entity in any form: checks the structure that NGSI-LD asks for (clauses 4.5 and 5.2), and gives its
 * key-values form. Never throws. Takes linear time, but for the further instances of attributes.
 *
 * @param entity nested as deeply as the stack allows for, some thousand levels
 */
export function readEntity(entity: JsonObject, options: ReadOptions = {}): EntityReading {
  const { model, unwraps = () => false } = options;
  const entries = Object.entries(entity);
  const form = options.form ?? guessForm(entries);
  const isNormalized = options.form === 'normalized';
  const isKeyValues = form === 'keyvalues';
  const findings = new Findings();
  checkPresence(entity, findings);
  for (const [name, value] of entries) {
    if (NO_OWN_ATTRIBUTES.has(name)) checkEntityMember(name, value, model, findings);
    else if (!isKeyValues) checkAttribute(name, value, { isNormalized }, findings);
    else {
      findings.enter(name);
      warnOfName(name, findings);
      findings.leave();
    }
  }
  const keyValues = new KeyValues(entity, entries, { isKeyValues, isNormalized, model, unwraps });
  const { readings, leftOut } = readingsOf(keyValues);
  const { faults, warnings } = findings;
  return { form, faults, warnings, readings, leftOut, kinds: keyValues.kinds };
}

function readingsOf(keyValues: KeyValues): Pick<EntityReading, 'readings' | 'leftOut'> {
  const first: Reading = { keyValues: keyValues.toObject(), locate: (tokens) => keyValues.locate(tokens) };
  const further: Reading[] = [];
  const leftOut: LeftOut[] = [];
  const max = Math.min(MAX_FURTHER_READINGS, Math.floor(MAX_READ_MEMBERS / keyValues.size));
  for (const { name, others } of keyValues.several) {
    const taken = others.slice(0, max - further.length);
    for (const instance of taken)
      further.push({
        attribute: name,
        instance: [name, ...instance.path],
        get keyValues() {
          return keyValues.toObject(name, instance);
        },
        locate: (tokens) => keyValues.locate(tokens, name, instance),
      });
    if (taken.length < others.length) leftOut.push({ attribute: name, read: taken.length + 1 });
  }
  return { readings: [first, ...further], leftOut };
}

export type { EntityWarning, Finding, Form };
