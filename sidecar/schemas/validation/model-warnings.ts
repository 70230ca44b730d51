import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import type { EntityReading } from '../../ngsi-ld/representation/read-entity.js';
import type { Model } from './model.js';
import type { Spelling } from './spelling.js';
import { shown } from './words.js';

/** Warnings that are kept of one entity: far more than are shown. */
const WARNINGS_MAX = 1000;

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
  spelling: Spelling,
): readonly Warning[] {
  const { attributes, foresees } = model;
  // Of a model that names no attribute at all, none is unknown.
  if (attributes.size === 0) return [];
  const found: Warning[] = [];
  const names = [...attributes.keys()];
  const blamed = new Set(errors.flatMap(({ tokens }) => (tokens.length === 1 ? tokens : [])));
  for (const name of Object.keys(readings[0].keyValues)) {
    if (found.length === WARNINGS_MAX) break;
    if (NO_OWN_ATTRIBUTES.has(name) || blamed.has(name)) continue;
    if (!attributes.has(name)) {
      if (!foresees(name))
        found.push({
          tokens: [name],
          code: 'unknown-attribute',
          say: () => unknown(name, model, names, spelling),
        });
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

function unknown(name: string, { name: type }: Model, names: readonly string[], spelling: Spelling): string {
  const meant = spelling.nearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean ${shown(meant)}?`;
  return `is no attribute that the model ${type} describes${hint}`;
}
