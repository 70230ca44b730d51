import { createHash } from 'node:crypto';
import type { JsonValue } from '../../shared/json/json.js';
import { RemoteDocumentError } from '../remote/errors.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import { PreconditionFailedError } from '../store/errors.js';
import type { NewReference } from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { OvertakenError } from './errors.js';
import { urisNamedIn } from './reference-uris.js';

/** A document that was found, and its text. */
interface Found {
  readonly text: string;
  readonly sha256: string;
  /** To be stored, when it was fetched. */
  readonly fetched?: NewReference;
}

/** Finds the documents that one schema refers to: in the store, else at allowed origins. */
export class ReferenceGathering {
  readonly #store: SchemaStore;
  readonly #remote: RemoteDocuments;
  readonly #stored = new Map<string, Found>();
  readonly #fetched = new Map<string, JsonValue>();
  /** Why a document could not be had. */
  readonly reasons = new Map<string, string>();

  constructor(store: SchemaStore, remote: RemoteDocuments) {
    this.#store = store;
    this.#remote = remote;
  }

  /** The document at a URI in its normal form; undefined when it cannot be had. */
  async load(uri: string): Promise<JsonValue | undefined> {
    const stored = (await this.#store.references.texts([uri])).get(uri);
    if (stored !== undefined) {
      this.#stored.set(uri, stored);
      return JSON.parse(stored.text) as JsonValue;
    }
    if (!this.#remote.allows(uri)) {
      this.reasons.set(uri, 'it is not stored here, nor of an origin that documents may be fetched from');
      return undefined;
    }
    try {
      const document = (await this.#remote.fetch(uri)).document as JsonValue;
      this.#fetched.set(uri, document);
      return document;
    } catch (error) {
      if (!(error instanceof RemoteDocumentError)) throw error;
      this.reasons.set(uri, error.message);
      return undefined;
    }
  }

  /**
   * What was found for URIs.
   *
   * @param uris of documents whose depth was checked meanwhile
   */
  found(uris: Iterable<string>): ReadonlyMap<string, Found> {
    const found = new Map<string, Found>();
    for (const uri of uris) {
      const one = this.#stored.get(uri) ?? this.#foundByFetch(uri);
      if (one !== undefined) found.set(uri, one);
    }
    return found;
  }

  /**
   * Stores what was fetched.
   *
   * @throws OvertakenError when a document has meanwhile come to be stored
   */
  async keep(found: ReadonlyMap<string, Found>): Promise<void> {
    for (const { fetched } of found.values()) {
      if (fetched === undefined) continue;
      try {
        await this.#store.references.put(fetched, 'absent');
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        throw new OvertakenError({ cause: error });
      }
    }
  }

  #foundByFetch(uri: string): Found | undefined {
    const document = this.#fetched.get(uri);
    if (document === undefined) return undefined;
    const text = JSON.stringify(document);
    return {
      text,
      sha256: createHash('sha256').update(text).digest('hex'),
      fetched: { uri, source: 'fetched', text, references: urisNamedIn(document, uri) },
    };
  }
}
