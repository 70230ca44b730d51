import { blameIn, rootOf } from './document.js';
import type { SchemaFault } from './errors.js';
import { alternativesIn, schemasIn, targetOf } from './flat-graph.js';
import { flatten } from './flatten.js';
import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import type { LinkedSchema } from './linker.js';

/**
 * References that lead back to where they are without going into the value: validation would never end, which a schema
 * must not do (JSON Schema core, section 9.4.1).
 */
export function loopsOf(linked: LinkedSchema): readonly SchemaFault[] {
  const { targets, sources } = flatten(linked);
  const done = new Set<JsonObject>();
  /** The schemas on the way to the one at hand, in order. */
  const open = new Set<JsonObject>();
  const loops: SchemaFault[] = [];
  const visit = (schema: Schema | undefined): void => {
    if (!isObject(schema) || done.has(schema)) return;
    if (open.has(schema)) {
      const loop = [...open].slice([...open].indexOf(schema));
      const referring = loop.find((one) => loop.some((other) => other === targetOf(one, targets)));
      const { document, tokens } = sources.get(referring ?? schema) ?? rootOf(linked.main);
      loops.push(blameIn(document, tokens)(['$ref'], 'leads back here without going into the value'));
      return;
    }
    open.add(schema);
    for (const next of [...schemasIn(schema, 'allOf'), ...alternativesIn(schema)]) visit(next);
    visit(targetOf(schema, targets));
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of sources.keys()) visit(schema);
  return loops;
}
