/** The attributes of a model, for people. Pure: it is tested without a browser. */
import { NO_OWN_ATTRIBUTES } from '../../sidecar/ngsi-ld/members.js';
import { statedUnit, withoutUnit } from '../../sidecar/shared/stated-unit.js';
import { holdsOf, listOf, partOf, resolved, textOf } from './openapi-summary.js';

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
    .filter(([name]) => !NO_OWN_ATTRIBUTES.has(name))
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
