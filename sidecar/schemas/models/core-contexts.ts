import { bundledContext, CORE_CONTEXT_VERSIONS, coreContextUrl } from '../json-ld/core-context.js';
import { MEDIA_TYPES, toServedDocument, type ServedDocument } from './content-store.js';

/** A bundled context in a list. It has no times, and only version 1. */
export interface CoreContextSummary {
  readonly kind: 'core';
  readonly name: string;
  readonly currentVersion: 1;
  readonly etag: string;
  /** The URL where it is published. */
  readonly canonicalUrl: string;
}

/** A bundled context, with the document at its URL. */
export interface CoreContext {
  readonly summary: CoreContextSummary;
  readonly served: ServedDocument & { readonly kind: 'core' };
}

/** Contexts published by others that the core contexts include. */
const OTHERS = [['data-integrity-v2', 'https://w3id.org/security/data-integrity/v2']] as const;

let all: ReadonlyMap<string, CoreContext> | undefined;

/** Returns the bundled contexts by the names under which they are served, sorted. */
export function coreContexts(): ReadonlyMap<string, CoreContext> {
  return (all ??= createCoreContexts());
}

function createCoreContexts(): ReadonlyMap<string, CoreContext> {
  const named = [
    ...OTHERS,
    ...CORE_CONTEXT_VERSIONS.map(
      (version) => [`ngsi-ld-core-context-v${version}`, coreContextUrl(version)] as const,
    ),
  ];
  return new Map(
    named.map(([name, canonicalUrl]): [string, CoreContext] => {
      const served = toServedDocument(JSON.stringify(bundledContext(canonicalUrl)), MEDIA_TYPES.context);
      const { etag } = served;
      return [
        name,
        {
          summary: { kind: 'core', name, currentVersion: 1, etag, canonicalUrl },
          served: { ...served, kind: 'core' },
        },
      ];
    }),
  );
}
