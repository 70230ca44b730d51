import type { UsedTime } from '../../shared/clock.js';
import type { JsonValue } from '../../shared/json/json.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { ComposedContext, ComposeInput } from '../json-ld/compose-context.js';
import { unwrapped } from '../json-ld/context-form.js';
import type { ContextResults, ContextResult } from '../json-ld/errors.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { documentUri } from '../json-schema/uri.js';
import {
  generatedContextName,
  type ModelKey,
  type NewReference,
  type SchemaStore,
} from '../../store/index.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { ContextLoader } from './context-loader.js';
import { contextUrl, INTERNAL_BASE } from './content-store.js';
import type { CoreContext } from './core-contexts.js';
import { requireValidContext } from './errors.js';
import { ReferenceGathering } from './references.js';

interface Parts {
  readonly store: SchemaStore;
  readonly remote: RemoteDocuments;
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'composeContext'>>;
  readonly contextLoader: ContextLoader;
  readonly core: ReadonlyMap<string, CoreContext>;
}

/** A model's own context. */
interface NamedOwnContext {
  /** In the form that workers process. */
  readonly input: Pick<ComposeInput, 'text' | 'pointer' | 'keptBase'>;
  /** Names of the contexts of this service that it refers to. */
  readonly contexts: ReadonlySet<string>;
}

/** The complete context of a model that has its own, and what it depends on. */
export interface AcceptedOwnContext extends ComposedContext {
  /** Names of the contexts of this service that it refers to. */
  readonly contexts: ReadonlySet<string>;
  /** SHA-256 of every document that it was created from, by URI. */
  readonly references: ReadonlyMap<string, string>;
  /** Those documents that were fetched and must be stored. */
  readonly fetched: readonly NewReference[];
}

/** The name of a custom, generated or core context. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.~-]*$/;

/** The place of the context in the input. */
const POINTER = '/context';

/**
 * Checks models' own contexts and adds generated terms. Contexts of this service remain URLs, as in custom contexts, so
 * that their later versions apply to the model. Documents of other services are embedded, as a version keeps the
 * documents that its schema refers to.
 */
export class OwnContexts {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Replaces names and URLs of this service's contexts by their stored URLs.
   *
   * @param given a map of terms, an array of maps, URLs and names, the name of a stored context, or a URL
   * @param baseUrl of this service, as the client reaches it
   */
  named(given: JsonValue, baseUrl: string): NamedOwnContext {
    const contexts = new Set<string>();
    const name = (element: unknown): unknown => {
      if (typeof element !== 'string') return element;
      const own = NAME.test(element)
        ? { name: element, version: undefined }
        : this.#parts.contextLoader.ownContext(element, baseUrl);
      if (own === undefined) return element;
      const core = this.#parts.core.get(own.name);
      if (core !== undefined) return core.summary.canonicalUrl;
      contexts.add(own.name);
      return contextUrl(INTERNAL_BASE, own.name, own.version);
    };
    const { value, faults } = unwrapped(given, POINTER);
    const named = Array.isArray(value) ? value.map(name) : name(value);
    const wrapped = value === given ? named : { '@context': named };
    // The check then reports the members next to `@context`.
    const text = JSON.stringify(faults.length > 0 ? given : wrapped);
    return { input: { text, pointer: POINTER, keptBase: `${INTERNAL_BASE}/` }, contexts };
  }

  /**
   * Checks and completes a context.
   *
   * @param generated terms for names that it does not define
   * @param options `baseUrl`: as for `named`; `time`: gives all tasks of a write one time limit together
   * @throws ContextInvalidError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async accept(
    key: ModelKey,
    { input, contexts }: NamedOwnContext,
    generated: Readonly<Record<string, string>>,
    { baseUrl, time }: { readonly baseUrl: string; readonly time: UsedTime },
  ): Promise<AcceptedOwnContext> {
    const { store, remote, workers, contextLoader } = this.#parts;
    const gathering = new ReferenceGathering(store, remote);
    const ownName = generatedContextName(key);
    const supply = async (url: string): Promise<ContextResult> => {
      const own = contextLoader.ownContext(url, baseUrl);
      if (own === undefined) return referenceSupply(gathering, url);
      const found = await contextLoader.loadForCheck(url, baseUrl, ownName);
      return 'failure' in found && found.failure.kind === 'contextRefused' ? noContext(own.name) : found;
    };
    const run = (supplied: ContextResults) =>
      workers.run('composeContext', { ...input, generated, supplied }, { time });
    const { composed } = await requireValidContext(runWithContexts(run, supply, time), POINTER, baseUrl);
    const { references, fetched } = gathering.found(
      composed.embeddedUrls.flatMap((url) => documentUri(url) ?? []),
    );
    return { ...composed, contexts, references, fetched };
  }
}

/** Returns a document of another service: one that is stored here, or otherwise from an allowed origin. */
async function referenceSupply(gathering: ReferenceGathering, url: string): Promise<ContextResult> {
  const uri = documentUri(url);
  const found = uri === undefined ? undefined : await gathering.load(uri);
  if (found !== undefined) return { sha256: found.sha256, text: found.text };
  const reason = gathering.reasons.get(uri ?? '') ?? 'it is neither stored here nor from an allowed origin';
  return { failure: { kind: 'contextRefused', detail: `The context ${url} cannot be used: ${reason}.` } };
}

function noContext(name: string): ContextResult {
  return {
    failure: { kind: 'contextRefused', detail: `There is no context ${JSON.stringify(name)} here.` },
  };
}
