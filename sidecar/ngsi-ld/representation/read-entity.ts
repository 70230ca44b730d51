import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { NON_ATTRIBUTE_MEMBERS } from '../members.js';
import { checkAttribute } from './attribute-checks.js';
import { checkEntityMember, checkPresence } from './entity-checks.js';
import { Findings } from './findings.js';
import { guessForm, type Form } from './form.js';
import { checkGeometry, isGeometry } from './geometry.js';
import { datasetsOf } from './instances.js';
import { KeyValues } from './key-values.js';
import { warnOfName } from './value-checks.js';
import { readNgsiV2 } from './ngsiv2.js';
import type { EntityReading, OmittedInstances, Reading } from './reading.js';

/** How to read an entity. */
export interface ReadOptions {
  /** Detected if not given. `normalized` accepts no concise attributes; a detected normalized form does, as brokers do. */
  readonly form?: Form | undefined;
  /** The type that the entity must have, alone or among others. It becomes the `type` that schemas see. */
  readonly model?: string;
  /**
   * Whether the model describes the bare value of a LanguageProperty, VocabProperty or JsonProperty, not the object
   * with a languageMap, vocab or json in which the key-values form wraps it (clause 4.5.4). By default, it never does.
   * Called for any attribute; it only affects those three kinds.
   */
  readonly unwraps?: (attribute: string) => boolean;
}

/** Maximum number of further instances to read. */
const MAX_FURTHER_READINGS = 1000;
/** Maximum number of members in all readings together, because each reading contains the whole entity. */
const MAX_READ_MEMBERS = 200_000;

/**
 * Reads an entity in any form: checks the structure that NGSI-LD or NGSIv2 requires (clauses 4.5 and 5.2), and makes
 * its key-values form. Never throws. Takes linear time, except for further instances of attributes.
 *
 * @param entity may be nested as deeply as the stack allows, some thousand levels
 */
export function readEntity(entity: JsonObject, options: ReadOptions = {}): EntityReading {
  const { model, unwraps = () => false } = options;
  const entries = Object.entries(entity);
  const form = options.form ?? guessForm(entries);
  if (form === 'ngsiv2') return readNgsiV2(entity, model);
  const isNormalized = options.form === 'normalized';
  const isKeyValues = form === 'keyvalues';
  const findings = new Findings();
  checkPresence(entity, findings);
  for (const [name, value] of entries) {
    if (NON_ATTRIBUTE_MEMBERS.has(name)) checkEntityMember(name, value, model, findings);
    else if (!isKeyValues) checkAttribute(name, value, isNormalized, findings);
    else {
      findings.enter(name);
      warnOfName(name, findings);
      checkGeometries(value, findings);
      findings.leave();
    }
  }
  const keyValues = new KeyValues(entity, entries, { isKeyValues, isNormalized, model, unwraps });
  const { readings, omitted: leftOut } = readingsOf(keyValues);
  const { faults, warnings } = findings;
  return { form, faults, warnings, readings, omitted: leftOut, kinds: keyValues.kinds };
}

/** Checks values that are meant as geometries: they become GeoProperties (clause 4.5.4), and no broker stores invalid ones. */
function checkGeometries(value: JsonValue, findings: Findings): void {
  for (const { submitted, path } of datasetsOf(value)) {
    if (!isGeometry(submitted)) continue;
    path.forEach((token) => findings.enter(token));
    checkGeometry(submitted, findings);
    path.forEach(() => findings.leave());
  }
}

function readingsOf(keyValues: KeyValues): Pick<EntityReading, 'readings' | 'omitted'> {
  const first: Reading = { keyValues: keyValues.toObject(), locate: (tokens) => keyValues.locate(tokens) };
  const further: Reading[] = [];
  const leftOut: OmittedInstances[] = [];
  const max = Math.min(MAX_FURTHER_READINGS, Math.floor(MAX_READ_MEMBERS / keyValues.size));
  for (const { name, others } of keyValues.multipleInstances) {
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
  return { readings: [first, ...further], omitted: leftOut };
}

export type { EntityReading, Form, OmittedInstances, Reading };
