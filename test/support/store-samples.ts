import assert from 'node:assert/strict';
import type { Clock } from '../../sidecar/shared/clock.js';
import { yieldToEventLoop } from '../../sidecar/shared/event-loop.js';
import type {
  ModelSettings,
  NewContextVersion,
  NewModelVersion,
  NewReference,
  Page,
} from '../../sidecar/store/records.js';
import type { SqlStore } from '../../sidecar/store/sql-store.js';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';

export const ALL: Page = { limit: 1000, offset: 0 };

/** A SHA-256 that no text here has. */
export const NO_CONTENT = '0'.repeat(64);

export const SETTINGS: ModelSettings = { compatibility: 'none' };

/** A clock that moves when the test says so, and when somebody sleeps. */
export interface HandClock extends Clock {
  time: number;
}

export function handClock(time = 1_700_000_000_000): HandClock {
  return {
    time,
    now() {
      return this.time;
    },
    monotonicMs() {
      return this.time;
    },
    /** Time passes at once. */
    async sleep(ms) {
      await yieldToEventLoop();
      this.time += ms;
    },
  };
}

/** Runs one test with a new, empty store. */
export type StoreTest = (title: string, test: (store: SqlStore, clock: HandClock) => Promise<void>) => void;

/** A version of a model; the tag distinguishes its schema and context from others. */
export function modelVersion(tag: string, parts: Partial<NewModelVersion> = {}): NewModelVersion {
  return {
    schema: `{"title":"schema ${tag}"}`,
    context: `{"@context":{"${tag}":"urn:${tag}"}}`,
    metadata: null,
    references: new Map(),
    contexts: new Set(),
    ...parts,
  };
}

export function contextVersion(tag: string, ...contexts: readonly string[]): NewContextVersion {
  return { text: `{"@context":{"${tag}":"urn:custom:${tag}"}}`, contexts: new Set(contexts) };
}

export function reference(uri: string, text: string, ...references: readonly string[]): NewReference {
  return { uri, source: 'stored', text, references: new Set(references) };
}

/** Returns everything in a store, for comparisons. */
export async function dump(store: SchemaStore): Promise<unknown> {
  const domains = (await store.domains.list(ALL)).items;
  const models = [];
  for (const { name: domain } of domains) {
    for (const { name } of (await store.models.list(domain, ALL)).items) {
      for (const { number, references } of (await store.models.versions({ domain, name }, ALL)).items) {
        models.push(await store.models.texts({ domain, name }, number));
        for (const { sha256 } of references) models.push(await store.content(sha256));
      }
    }
  }
  const contexts = [];
  for (const { name, currentVersion = 0 } of (await store.contexts.list(ALL)).items) {
    for (let number = 1; number <= currentVersion; number++) {
      const at = await store.contexts.get(name, number);
      contexts.push({ ...at, text: await store.content(at.version.content.sha256) });
    }
  }
  const references = (await store.references.list(ALL)).items;
  return {
    domains,
    models,
    contexts,
    references,
    texts: await store.references.texts(references.map(uriOf)),
  };
}

function uriOf({ uri }: { readonly uri: string }): string {
  return uri;
}

/** Asserts that an operation fails with an error code, and changes nothing. */
export async function refuses(
  store: SchemaStore,
  kind: string,
  operation: () => Promise<unknown>,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const before = await dump(store);
  await assert.rejects(operation, { kind, ...details });
  assert.deepEqual(await dump(store), before);
}
