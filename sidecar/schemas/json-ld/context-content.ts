import { bundledContext } from './bundled-contexts.js';
import { referencesOf } from './context-references.js';
import { countOf, safetyFaults } from './context-safety.js';
import { ContextUnusableError } from './errors.js';
import { isMap, memberOf } from './json.js';
import { absoluteReference } from './processor.js';
import type { ContextFailure, SuppliedContext } from './supplied.js';

/** A context document, read once for all requests that use it. */
export interface ContextContent {
  /** The same for the same text with the same references. */
  readonly key: string;
  /** JSON; the processor writes into what it loads, so that it is parsed anew each time. */
  readonly text: string;
  readonly documentUrl: string;
  /** The URLs that processing it loads, absolute where they can be. */
  readonly references: readonly string[];
  /** Maps and URLs in it. */
  readonly parts: number;
  readonly hasImport: boolean;
  readonly isBundled: boolean;
}

/** Reads the document of a URL. @returns a failure when it is no context that can be used */
export function readContext(url: string, supplied: SuppliedContext): ContextContent | ContextFailure {
  const { sha256, text, documentUrl = url } = supplied;
  const document = parsed(text);
  const context = isMap(document) ? memberOf(document, '@context') : undefined;
  if (context === undefined) return unusable(url, 'it is no JSON object with an @context.');
  const [fault] = safetyFaults(context);
  if (fault !== undefined) return unusable(url, fault.detail);
  return { key: `${sha256} ${documentUrl}`, ...contentOf(text, context, documentUrl), isBundled: false };
}

/** A context that comes with this product; undefined for other URLs. */
export function readBundled(url: string): ContextContent | undefined {
  const document = bundledContext(url);
  if (document === undefined) return undefined;
  return { key: url, ...contentOf(JSON.stringify(document), document['@context'], url), isBundled: true };
}

function contentOf(text: string, context: unknown, documentUrl: string) {
  const references = referencesOf(context);
  return {
    text,
    documentUrl,
    references: references.map(({ url, isImport }) =>
      // The processor leaves these as they are.
      isImport ? url : absoluteReference(documentUrl, url),
    ),
    parts: countOf(context).parts,
    hasImport: references.some(({ isImport }) => isImport),
  };
}

function unusable(url: string, reason: string): ContextFailure {
  return { code: 'CONTEXT_UNUSABLE', detail: new ContextUnusableError(url, reason).message };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
