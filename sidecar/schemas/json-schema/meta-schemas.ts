import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv/dist/ajv.js';
import { isObject, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { type Dialect, DIALECT_URIS, isEffective } from './keywords.js';

/** No formats: patterns are checked one by one, and URIs by following them. */
const OPTIONS = { strict: false, allErrors: true, ownProperties: true, logger: false } as const;

const MAKERS: Readonly<Record<Dialect, () => Ajv>> = {
  'draft-04': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-04')),
  'draft-06': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-06')),
  'draft-07': () => new Ajv(OPTIONS),
  '2019-09': () => new Ajv2019(OPTIONS),
  '2020-12': () => new Ajv2020(OPTIONS),
};

/** Drafts whose meta-schemas are those that were published. */
const PUBLISHED = ['draft-07', '2019-09', '2020-12'] as const satisfies readonly Dialect[];

/**
 * The meta-schema of draft-07 as the drafts before it have it: without the keywords that came later, and in draft-04 with bounds
 * that are excluded by a keyword beside them. It takes more than they do, such as an empty list of required properties.
 */
function olderMetaSchema(dialect: 'draft-04' | 'draft-06'): JsonObject {
  const newer = metaSchemasOf('draft-07').getSchema(DIALECT_URIS['draft-07'])?.schema as JsonObject;
  const properties = Object.entries(member(newer, 'properties') as JsonObject);
  const known = properties.filter(([keyword]) => isEffective(keyword, {}, dialect));
  const older = { ...newer, $id: DIALECT_URIS[dialect] };
  if (dialect === 'draft-06') return { ...older, properties: objectOf(known) };
  return {
    ...older,
    properties: objectOf([
      ...known,
      ['id', { type: 'string' }],
      ['exclusiveMinimum', { type: 'boolean' }],
      ['exclusiveMaximum', { type: 'boolean' }],
    ]),
    dependencies: { exclusiveMinimum: ['minimum'], exclusiveMaximum: ['maximum'] },
  };
}

/** Made when first needed; meta-schemas do not change. */
const made = new Map<Dialect, Ajv>();

/** A validator that knows the meta-schema of a draft. */
export function metaSchemasOf(dialect: Dialect): Ajv {
  const ajv = made.get(dialect) ?? MAKERS[dialect]();
  made.set(dialect, ajv);
  return ajv;
}

/**
 * The meta-schema of a supported draft, or a part of one, that has a URI: schemas may refer to it without anybody having
 * stored it.
 *
 * @param uri in its normal form, without fragment
 */
export function metaSchemaAt(uri: string): JsonObject | undefined {
  if (!/^https?:\/\/json-schema\.org\/draft/.test(uri)) return undefined;
  for (const dialect of PUBLISHED) {
    const found: JsonValue | undefined = metaSchemasOf(dialect).schemas[uri]?.schema;
    if (isObject(found)) return found;
  }
  return undefined;
}
