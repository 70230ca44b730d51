import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { hasScopedContext } from './context-form.js';
import { absoluteReference } from './processor.js';

/** The document of a context, and where its own references are relative to. */
export interface EmbeddedDocument {
  readonly context: JsonValue;
  readonly documentUrl: string;
}

/** What is to stand in the place of a URL: its document, the URL itself (`keep`), or nothing (`drop`). */
export type Embed = (url: string) => EmbeddedDocument | 'keep' | 'drop';

/** How deep contexts can lead to each other: processors go no further along `@context` arrays; scoped ones may go round. */
const MAX_DEPTH = 12;

/** Scoped contexts lead to each other without an end. */
export class EndlessContextError extends Error {}

/**
 * The elements of a context, with the documents of others in the place of their URLs, so that it means the same without them: in
 * arrays, of scoped contexts, and of `@import` (JSON-LD 1.1 § 3.1, § 4.1.8, § 4.1.10).
 *
 * @param context one that was found valid, with all that it leads to
 * @throws EndlessContextError
 */
export function embedded(context: JsonValue, embed: Embed, base = '', depth = 0): readonly JsonValue[] {
  if (depth > MAX_DEPTH) throw new EndlessContextError('Scoped contexts lead to each other without an end.');
  const elements = isArray(context) ? context : [context];
  return elements.flatMap((element): readonly JsonValue[] => {
    if (typeof element === 'string') return embeddedUrl(absoluteReference(base, element), embed, depth);
    if (!isObject(element)) return [element];
    // Processors look into a map that wraps another context.
    const inner = member(element, '@context');
    return inner === undefined
      ? [embeddedMap(element, embed, base, depth)]
      : embedded(inner, embed, base, depth + 1);
  });
}

function embeddedUrl(url: string, embed: Embed, depth: number): readonly JsonValue[] {
  const found = embed(url);
  if (found === 'drop') return [];
  if (found === 'keep') return [url];
  return embedded(found.context, embed, found.documentUrl, depth + 1);
}

function embeddedMap(map: JsonObject, embed: Embed, base: string, depth: number): JsonObject {
  const { '@import': imported, ...own } = map;
  const others = typeof imported === 'string' ? importedMap(imported, embed, base, depth) : {};
  const members = Object.entries(own).map(([name, definition]) => [
    name,
    hasScopedContext(definition) ? embeddedDefinition(definition, embed, base, depth) : definition,
  ]);
  return { ...others, ...(Object.fromEntries(members) as JsonObject) };
}

/** What is imported from a URL: one map, which imports no other, or the URL where it is to stay. */
function importedMap(reference: string, embed: Embed, base: string, depth: number): JsonObject {
  const url = absoluteReference(base, reference);
  const [element] = embeddedUrl(url, embed, depth);
  if (typeof element === 'string') return { '@import': element };
  return isObject(element) ? element : {};
}

function embeddedDefinition(definition: JsonObject, embed: Embed, base: string, depth: number): JsonObject {
  const scoped = embedded(definition['@context'] ?? null, embed, base, depth + 1);
  return { ...definition, '@context': scoped.length === 1 ? (scoped[0] ?? null) : scoped };
}
