import type { JsonObject } from '../../shared/json/json.js';
import type { ContentRef, Model, ModelAt, ModelKey, Page, Paged } from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { rereading, type Contents } from './contents.js';
import { detailsOf } from './model-details.js';
import type { ModelDocuments } from './model-documents.js';
import type { ModelFiles } from './model-files.js';
import type { ModelSchemas } from './model-schemas.js';
import type { ModelWriter } from './model-writer.js';
import { MEDIA_TYPES } from './served.js';
import type { ModelService } from './service.js';
import type {
  ModelChange,
  ModelDetails,
  ModelDocumentKind,
  ModelFile,
  ModelReadOptions,
  ModelSchema,
  ModelUpdate,
  NewModel,
  ServedDocument,
  VersionSummary,
  WriteOptions,
} from './shapes.js';
import { summaryOf } from './version-metadata.js';
import { WhileUnwritten } from './while-unwritten.js';

interface Parts {
  readonly store: SchemaStore;
  readonly contents: Contents;
  readonly documents: ModelDocuments;
  readonly files: ModelFiles;
  readonly schemas: ModelSchemas;
  readonly writer: ModelWriter;
}

export class Models implements ModelService {
  readonly #parts: Parts;
  /** Which text is the current one, or that of a version. */
  readonly #refs: WhileUnwritten<ContentRef>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#refs = new WhileUnwritten(parts.store);
  }

  list(domain: string, page: Page): Promise<Paged<Model>> {
    return this.#parts.store.models.list(domain, page);
  }

  get(key: ModelKey): Promise<ModelDetails> {
    return this.#reading(key, undefined, async (at) => {
      const text = await this.#parts.contents.text(at.version.schema);
      return detailsOf(at, JSON.parse(text) as JsonObject);
    });
  }

  create(domain: string, model: NewModel): Promise<ModelDetails> {
    return this.#parts.writer.create(domain, model);
  }

  update(
    key: ModelKey,
    change: ModelChange,
    options?: WriteOptions & { readonly dryRun?: boolean | undefined },
  ): Promise<ModelUpdate> {
    return this.#parts.writer.update(key, change, options);
  }

  delete(key: ModelKey, { ifMatch }: WriteOptions = {}): Promise<void> {
    return this.#parts.store.models.delete(key, ifMatch);
  }

  async versions(key: ModelKey, page: Page): Promise<Paged<VersionSummary>> {
    const { items, total } = await this.#parts.store.models.versions(key, page);
    return { items: items.map(summaryOf), total };
  }

  document(key: ModelKey, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { store, contents, documents } = this.#parts;
    if (kind !== 'schema' && kind !== 'context')
      return this.#reading(key, options.version, (at) => documents.of(at, kind, options));
    return rereading(async () => {
      const { version } = options;
      const name = JSON.stringify([kind, key.domain, key.name, version]);
      const content = await this.#refs.get(name, () => store.models.contentRef(key, kind, version));
      return contents.served(content, MEDIA_TYPES[kind]);
    });
  }

  schema(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    return this.#parts.schemas.of(key, version);
  }

  files(key: ModelKey, options: ModelReadOptions): Promise<readonly ModelFile[]> {
    return this.#reading(key, options.version, (at) => this.#parts.files.list(at, options));
  }

  file(key: ModelKey, name: string, options: ModelReadOptions): Promise<ServedDocument> {
    return this.#reading(key, options.version, (at) => this.#parts.files.get(at, name, options));
  }

  #reading<Result>(
    key: ModelKey,
    version: number | undefined,
    read: (at: ModelAt) => Promise<Result>,
  ): Promise<Result> {
    return rereading(async () => read(await this.#parts.store.models.get(key, version)));
  }
}
