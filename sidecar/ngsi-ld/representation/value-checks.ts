import type { AttributeKind } from '../attribute-kinds.js';
import { isArray, isObject, type JsonValue, member } from '../../shared/json/json.js';
import type { Findings } from './findings.js';
import { checkGeometry } from './geometry.js';
import { isUri } from '../names.js';
import { firstAttributeIn } from './plain-value.js';
import { shown } from '../../shared/shown.js';

const NULL = 'urn:ngsi-ld:null';
const LANGUAGE_TAG = /^(?:@none|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/;

/**
 * Faults of the value of an attribute of a kind, at any depth (clauses 4.5.2, 4.5.3 and 4.5.18 to 4.5.24).
 *
 * The walk of `findings` is at the value.
 */
export function checkValue(kind: AttributeKind, value: JsonValue, findings: Findings): void {
  if (isNull(value)) {
    // Notifications and temporal evolutions show it as well.
    findings.warn('ngsi-ld-null', `is ${NULL}, which stands for something deleted`);
    return;
  }
  switch (kind) {
    case 'Property':
      if (value === null) findings.fault('type', 'must not be null: leave out an attribute without a value');
      else warnOfAttribute(value, findings);
      return;
    case 'GeoProperty':
      checkGeometry(value, findings);
      return;
    case 'Relationship':
      checkObject(value, findings);
      return;
    case 'LanguageProperty':
      checkLanguageMap(value, findings);
      return;
    case 'VocabProperty':
      checkStrings(value, 'a string or an array of strings', findings);
      return;
    case 'JsonProperty':
      if (!isObject(value) && !(isArray(value) && value.every(isObject)))
        findings.warn(
          'json-scalar',
          `is ${shown(value)}; the standard asks for an object, or an array of objects`,
        );
      return;
    case 'ListProperty':
      if (isArray(value)) warnOfAttribute(value, findings);
      else findings.fault('type', `must be an array, is ${shown(value)}`);
      return;
    case 'ListRelationship':
      checkObjectList(value, findings);
  }
}

/** The NGSI-LD Null (clause 4.5.0), in the form that each kind gives it. */
function isNull(value: JsonValue): boolean {
  if (isArray(value)) return value.length === 1 && value[0] === NULL;
  return value === NULL || (isObject(value) && value['@none'] === NULL && Object.keys(value).length === 1);
}

function checkObject(value: JsonValue, findings: Findings): void {
  if (isArray(value)) {
    if (value.length === 0) findings.fault('minItems', 'must name at least one entity');
    for (const [index, item] of value.entries())
      if (!isUri(item))
        findings.fault('format', `must be the URI of an entity, is ${shown(item)}`, String(index));
  } else if (!isUri(value))
    findings.fault('format', `must be the URI of an entity, or an array of URIs, is ${shown(value)}`);
}

function checkObjectList(value: JsonValue, findings: Findings): void {
  if (!isArray(value)) {
    findings.fault('type', `must be an array of {"object": URI}, is ${shown(value)}`);
    return;
  }
  for (const [index, item] of value.entries()) {
    const object = isObject(item) ? member(item, 'object') : item;
    if (isUri(object)) continue;
    const below = object === undefined || !isObject(item) ? [] : ['object'];
    const what =
      object === undefined
        ? 'must have an object, the URI of an entity'
        : `must be the URI of an entity, is ${shown(object)}`;
    findings.fault(object === undefined ? 'required' : 'format', what, String(index), ...below);
  }
}

function checkLanguageMap(value: JsonValue, findings: Findings): void {
  if (!isObject(value)) {
    findings.fault(
      'type',
      `must be an object of strings by language, such as {"en": "yes"}, is ${shown(value)}`,
    );
    return;
  }
  for (const [tag, text] of Object.entries(value)) {
    findings.enter(tag);
    if (!LANGUAGE_TAG.test(tag))
      findings.warn(
        'language-tag',
        `is under ${shown(tag)}, which is not a language tag (such as en or de-AT) or @none`,
      );
    checkStrings(text, 'a string or an array of strings', findings);
    findings.leave();
  }
}

/** Also of members whose values are names: one string or several. */
export function checkStrings(value: JsonValue, what: string, findings: Findings): void {
  if (!isArray(value)) {
    if (typeof value !== 'string') findings.fault('type', `must be ${what}, is ${shown(value)}`);
    return;
  }
  for (const [index, item] of value.entries())
    if (typeof item !== 'string')
      findings.fault('type', `must be a string, is ${shown(item)}`, String(index));
}

/** One warning for each value: one such mistake rarely comes alone. */
function warnOfAttribute(value: JsonValue, findings: Findings): void {
  const tokens = firstAttributeIn(value);
  if (tokens !== undefined)
    findings.warn(
      'nested-attribute',
      'is an attribute inside a value; its own value is taken instead',
      ...tokens,
    );
}
