import { dialectOf } from '../json-schema/dialect.js';
import { isObject, type JsonValue } from '../../shared/json/json.js';
import { checkDocumentLimits } from '../json-schema/limits.js';
import type { Page, Paged, Reference } from '../store/records.js';
import type { IfMatch, PutReference, SchemaStore } from '../store/store.js';
import { rereading, type Contents } from './contents.js';
import { SchemaNotAcceptedError } from './errors.js';
import { referenceUri, urisNamedIn } from './reference-uris.js';
import { accepting } from './refusals.js';
import { MEDIA_TYPES } from './served.js';
import type { ReferenceService } from './service.js';
import type { ServedDocument, WriteOptions } from './shapes.js';

export class References implements ReferenceService {
  readonly #store: SchemaStore;
  readonly #contents: Contents;

  constructor(store: SchemaStore, contents: Contents) {
    this.#store = store;
    this.#contents = contents;
  }

  list(page: Page): Promise<Paged<Reference>> {
    return this.#store.references.list(page);
  }

  async get(uri: string): Promise<ServedDocument & { readonly reference: Reference }> {
    const normal = referenceUri(uri);
    return rereading(async () => {
      const reference = await this.#store.references.get(normal);
      const served = await this.#contents.served(reference.content, MEDIA_TYPES.schema);
      return { ...served, etag: reference.etag, reference };
    });
  }

  async put(
    uri: string,
    document: JsonValue,
    expected?: 'absent' | 'present' | IfMatch,
  ): Promise<PutReference> {
    const normal = referenceUri(uri);
    await accepting('', async () => requireUsable(document));
    const reference = {
      uri: normal,
      source: 'stored',
      text: JSON.stringify(document),
      references: urisNamedIn(document, normal),
    } as const;
    return this.#store.references.put(reference, expected);
  }

  async delete(uri: string, { ifMatch }: WriteOptions = {}): Promise<void> {
    await this.#store.references.delete(referenceUri(uri), ifMatch);
  }
}

/** Whether schemas can refer to the document; what is in it is looked at when one does. */
function requireUsable(document: JsonValue): void {
  if (!isObject(document)) {
    const detail = 'is no JSON object, as documents are that schemas refer to';
    throw new SchemaNotAcceptedError('SCHEMA_INVALID', `The document ${detail}.`, [{ pointer: '', detail }]);
  }
  checkDocumentLimits(document);
  dialectOf(document);
}
