import { urlFault } from './context-form.js';
import { type GatheredContexts, loadedFrom } from './context-cache.js';
import { ProcessorFailure } from './processor-refusals.js';
import type { DocumentLoader, JsonLdProcessor, ProcessorEvent } from './processor.js';
import type { ContextFailure } from './errors.js';

/** Maximum number of different events of which a request keeps the details. */
const MAX_EVENTS = 1000;

/** An event of the processor, and how often it occurred. */
export interface CountedEvent {
  readonly event: ProcessorEvent;
  readonly count: number;
}

/** The processing of one request, with only the contexts that were gathered for it. */
export class ProcessingSession {
  readonly #processor: JsonLdProcessor;
  readonly #gathered: GatheredContexts;
  readonly #events = new Map<string, { readonly event: ProcessorEvent; count: number }>();
  #failure: (ContextFailure & { readonly url: string }) | undefined;

  constructor(processor: JsonLdProcessor, gathered: GatheredContexts) {
    this.#processor = processor;
    this.#gathered = gathered;
  }

  /** The context that was needed but is unavailable. The processor's own error does not always name it. */
  get failure(): (ContextFailure & { readonly url: string }) | undefined {
    return this.#failure;
  }

  /** Each different event, in the order in which it first occurred. */
  get events(): readonly CountedEvent[] {
    return [...this.#events.values()];
  }

  /**
   * Expands a document.
   *
   * @param context applied before those of the document; undefined or null for none, because the package accepts
   * neither
   * @throws ProcessorFailure
   */
  expand(document: object, context: unknown): Promise<unknown[]> {
    return failing(() =>
      this.#processor.expand(document, {
        documentLoader: this.#load,
        eventHandler: this.#note,
        ...(context === undefined || context === null ? {} : { expandContext: context }),
      }),
    );
  }

  /** Compacts a document. @param expanded in expanded form; @throws ProcessorFailure */
  compact(expanded: object, context: unknown): Promise<Record<string, unknown>> {
    return failing(() =>
      this.#processor.compact(expanded, context, {
        documentLoader: this.#load,
        eventHandler: this.#note,
        skipExpansion: true,
      }),
    );
  }

  readonly #load: DocumentLoader = async (url) => {
    const content = this.#gathered.contents.get(url);
    if (content !== undefined) return loadedFrom(content);
    const failure = this.#gathered.failures.get(url) ?? {
      kind: 'contextRefused',
      detail: urlFault(url, '')?.detail ?? `The context ${url} stands where no context is expected.`,
    };
    this.#failure ??= { url, ...failure };
    throw new Error(failure.detail);
  };

  readonly #note = ({ event, next }: { event: ProcessorEvent; next: () => void }): void => {
    const key = `${event.code} ${keyOf(event.details)}`;
    const noted = this.#events.get(key);
    if (noted !== undefined) noted.count += 1;
    else if (this.#events.size < MAX_EVENTS) this.#events.set(key, { event, count: 1 });
    next();
  };
}

async function failing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new ProcessorFailure('JSON-LD processing failed.', { cause });
  }
}

/** The strings among the details of an event, which distinguish events with the same code. */
function keyOf(details: Readonly<Record<string, unknown>>): string {
  const texts = Object.values(details).filter((value) => typeof value === 'string');
  return texts.join(' ');
}
