/** The attributes of a model, for people. Pure: it is tested without a browser. */
import { NON_ATTRIBUTE_MEMBERS } from '../../sidecar/ngsi-ld/members.js';
import { statedUnit, withoutUnit } from '../../sidecar/shared/stated-unit.js';
import { tokensOf } from '../../sidecar/shared/json/json.js';

export interface AttributeRow {
  readonly name: string;
  readonly isRequired: boolean;
  /** Property, Relationship … */
  readonly kind: string;
  /** The type of its value, in a few words. */
  readonly type: string;
  readonly unit: string | undefined;
  readonly description: string;
}

type Part = Readonly<Record<string, unknown>>;

/**
 * Returns the attributes from the description of a model's API (OpenAPI 3.1), where references of the schema are already
 * resolved.
 *
 * @param schema of the model, which may name units in `x-ngsi`
 */
export function attributeRows(openapi: unknown, schema: unknown): readonly AttributeRow[] {
  const root = partOf(openapi);
  const [entity] = Object.values(partOf(partOf(root['components'])['schemas'])).map(partOf);
  const required = listOf(entity?.['required']);
  return Object.entries(partOf(entity?.['properties']))
    .filter(([name]) => !NON_ATTRIBUTE_MEMBERS.has(name))
    .map(([name, property]) => {
      const [first] = listOf(partOf(property)['anyOf']);
      const attribute = resolved(root, first ?? property);
      const kind = holdsOf(listOf(attribute['allOf'])[0]);
      const [value] = Object.values(partOf(attribute['properties']));
      const given = textOf(attribute['description']) ?? '';
      const hint = partOf(partOf(partOf(partOf(schema)['properties'])[name])['x-ngsi']);
      const said = given.replace(new RegExp(`^${kind}\\b[.:]?\\s*`), '');
      return {
        name,
        kind,
        isRequired: required.includes(name),
        type: holdsOf(value),
        unit: textOf(hint['units']) ?? textOf(hint['unit']) ?? statedUnit(said),
        description: withoutUnit(said),
      };
    });
}

/** Summarises in a few words what a schema describes. */
function holdsOf(value: unknown, depth = 0): string {
  const schema = partOf(value);
  const reference = textOf(schema['$ref']);
  if (reference !== undefined) return reference.slice(reference.lastIndexOf('/') + 1);
  if (depth > 3) return '…';
  for (const union of [schema['anyOf'], schema['oneOf'], schema['allOf']])
    if (Array.isArray(union))
      return [...new Set(union.slice(0, 8).map((one) => holdsOf(one, depth + 1)))].join(' | ');
  if (schema['type'] === 'array') return `${holdsOf(schema['items'], depth + 1)}[]`;
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum']))
    return schema['enum']
      .slice(0, 8)
      .map((one) => JSON.stringify(one))
      .join(' | ');
  const type = [schema['type']].flat().filter((one) => typeof one === 'string');
  const format = textOf(schema['format']);
  return `${type.length === 0 ? 'any' : type.join(' | ')}${format === undefined ? '' : ` (${format})`}`;
}

/** Follows one reference within the description. */
function resolved(root: Part, value: unknown): Part {
  const part = partOf(value);
  const reference = textOf(part['$ref']);
  const tokens = reference?.startsWith('#/') === true ? tokensOf(reference.slice(1)) : undefined;
  return tokens === undefined ? part : partOf(tokens.reduce<unknown>((at, token) => partOf(at)[token], root));
}

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
