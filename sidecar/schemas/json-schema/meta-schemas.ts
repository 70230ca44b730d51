import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv/dist/ajv.js';
import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import type { Dialect } from './keywords.js';

/** No formats: patterns are checked one by one, and URIs by following them. */
const OPTIONS = { strict: false, allErrors: true, ownProperties: true, logger: false } as const;

const MAKERS: Readonly<Record<Dialect, () => Ajv>> = {
  'draft-07': () => new Ajv(OPTIONS),
  '2019-09': () => new Ajv2019(OPTIONS),
  '2020-12': () => new Ajv2020(OPTIONS),
};

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
  for (const dialect of Object.keys(MAKERS) as Dialect[]) {
    const found: JsonValue | undefined = metaSchemasOf(dialect).schemas[uri]?.schema;
    if (isObject(found)) return found;
  }
  return undefined;
}
