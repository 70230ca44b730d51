import { createHash } from 'node:crypto';
import { isBundledContext } from './bundled-contexts.js';
import { referencesOf, replaceReferences } from './context-references.js';
import type { DocumentLoader } from './document-loader.js';
import { memberOf, type JsonMap } from './json.js';

/** A context whose URLs name contents, and the loader that knows them. */
export interface PinnedContext {
  readonly context: unknown;
  readonly load: DocumentLoader;
}

/** Contexts that one context leads to; processors load fewer. */
const MOST_PINNED = 32;

/**
 * Replaces the URLs in a context by content-addressed ones, whose contents the processor may keep: a context that was
 * changed gets another URL. Without it, contexts are loaded and processed anew for each document.
 *
 * URLs stay as they are when they cannot be loaded, or lead to too many others, so that processing reports them; and when
 * contexts name each other in a circle, which has no address of this kind.
 */
export async function pinContext(context: unknown, load: DocumentLoader): Promise<PinnedContext> {
  const contents = new Map<string, unknown>();
  const pins = new Map<string, string | undefined>();

  async function pinOf(url: string): Promise<string | undefined> {
    if (isBundledContext(url)) return url;
    if (pins.has(url) || pins.size >= MOST_PINNED) return pins.get(url);
    // Stands while this one is being pinned: whoever meets it then has closed a circle.
    pins.set(url, undefined);
    const pin = await pinned(url);
    pins.set(url, pin);
    return pin;
  }

  async function pinned(url: string): Promise<string | undefined> {
    const loaded = await load(url).catch(() => undefined);
    if (loaded === undefined) return undefined;
    const inner = memberOf(loaded.document as JsonMap, '@context');
    const replacements = new Map<string, string>();
    for (const reference of referencesOf(inner)) {
      const pin = await pinOf(absoluteUrl(reference.url, loaded.documentUrl));
      if (pin === undefined) return undefined;
      replacements.set(reference.url, pin);
    }
    const document = { '@context': replaceReferences(inner, (found) => replacements.get(found) ?? found) };
    const sha256 = createHash('sha256').update(JSON.stringify(document)).digest('hex');
    const pin = `urn:ngsi-ld-gateway:context:sha256:${sha256}`;
    contents.set(pin, document);
    return pin;
  }

  for (const { url } of referencesOf(context)) await pinOf(url);
  return {
    context: replaceReferences(context, (url) => (isBundledContext(url) ? url : (pins.get(url) ?? url))),
    load: async (url) =>
      contents.has(url)
        ? { documentUrl: url, document: structuredClone(contents.get(url)), tag: 'static' }
        : load(url),
  };
}

/** A reference in a document as an absolute URL; as it is when it has no such form. */
function absoluteUrl(reference: string, documentUrl: string): string {
  if (URL.canParse(reference) || !URL.canParse(reference, documentUrl)) return reference;
  return new URL(reference, documentUrl).href;
}
