import type { AttributeKind } from '../attribute-kinds.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { Findings } from './findings.js';
import type { ForeignInstance } from './instances.js';
import { KIND_NAMES } from './value-members.js';
import { didYouMean, shown } from './wording.js';

/** Types of attributes in NGSIv2, and what they are in NGSI-LD. */
const NGSI_V2: ReadonlyMap<JsonValue, AttributeKind> = new Map<JsonValue, AttributeKind>([
  ...['Text', 'Number', 'Integer', 'Float', 'Boolean', 'DateTime', 'StructuredValue', 'None'].map(
    (type) => [type, 'Property'] as const,
  ),
  ...['geo:json', 'geo:point', 'geo:line', 'geo:polygon', 'geo:box'].map(
    (type) => [type, 'GeoProperty'] as const,
  ),
]);

/**
 * The fault of an instance whose type is no attribute's: its members cannot be told from a value's, and are not looked at.
 */
export function checkForeignType({ type, member }: ForeignInstance, findings: Findings): void {
  const kind = NGSI_V2.get(type);
  const meant = typeof type === 'string' ? didYouMean(type, KIND_NAMES) : '';
  const detail =
    kind !== undefined
      ? `must be ${JSON.stringify(kind)}: ${shown(type)} is a type of NGSIv2, not of NGSI-LD`
      : meant !== ''
        ? `must be the type of an attribute, is ${shown(type)}${meant}`
        : `must be the type of an attribute (${KIND_NAMES.join(', ')}), is ${shown(type)}`;
  const hint =
    member === undefined ? '; an object that has a type of its own stands in the value of a Property' : '';
  findings.fault('enum', kind === undefined && meant === '' ? `${detail}${hint}` : detail, 'type');
}
