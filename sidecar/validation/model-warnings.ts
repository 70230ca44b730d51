import { NO_OWN_ATTRIBUTES } from '../ngsi-ld/entity-members.js';
import type { EntityReading } from '../representation/read-entity.js';
import type { Model } from './model.js';
import { nearest } from './nearest.js';
import { shown } from './words.js';

interface Warning {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly say: () => string;
}

/**
 * Attributes that the model does not know, though it allows them, and those that are of another kind than it says. Where an
 * error names the attribute itself, that is enough.
 */
export function modelWarnings(
  { readings, kinds }: EntityReading,
  model: Model,
  errors: readonly { readonly tokens: readonly string[] }[],
): readonly Warning[] {
  const { attributes, foresees } = model;
  // Of a model that names no attribute at all, none is unknown.
  if (attributes.size === 0) return [];
  const found: Warning[] = [];
  const blamed = new Set(errors.flatMap(({ tokens }) => (tokens.length === 1 ? tokens : [])));
  for (const name of Object.keys(readings[0].keyValues)) {
    if (NO_OWN_ATTRIBUTES.has(name) || blamed.has(name)) continue;
    if (!attributes.has(name)) {
      if (!foresees(name))
        found.push({ tokens: [name], code: 'unknown-attribute', say: () => unknown(name, model) });
      continue;
    }
    const [expected, sent] = [attributes.get(name), kinds.get(name)];
    if (expected !== undefined && sent !== undefined && expected !== sent)
      found.push({
        tokens: [name],
        code: 'other-kind',
        say: () => `is a ${sent}, where the model has a ${expected}`,
      });
  }
  return found;
}

function unknown(name: string, { name: type, attributes }: Model): string {
  const meant = nearest(name, attributes.keys());
  const hint = meant === undefined ? '' : `; did you mean ${shown(meant)}?`;
  return `is no attribute that the model ${type} describes${hint}`;
}
