import { AlreadyExistsError, NotFoundError, StoreUnavailableError, type Thing } from './errors.js';
import {
  generatedContextName,
  type ContentRef,
  type Model,
  type ModelAt,
  type ModelKey,
  type ModelSettings,
  type ModelTexts,
  type ModelVersion,
  type NewModelVersion,
  type Page,
  type Paged,
} from './records.js';
import { etagOf, requireMatch, type SqliteContents, timeAfter } from './sqlite-rows.js';
import type { SqliteContextRows } from './sqlite-contexts.js';
import type { SqliteDependents } from './sqlite-dependents.js';
import type { SqliteDomains } from './sqlite-domains.js';
import {
  hasSettings,
  type ModelRow,
  SqliteModelRows,
  type SqliteModelVersions,
  toModel,
} from './sqlite-model-versions.js';
import { type SqliteSession, versionParameter } from './sqlite-session.js';
import type { IfMatch, Models } from './store.js';

interface Parts {
  readonly contents: SqliteContents;
  readonly dependents: SqliteDependents;
  readonly domains: SqliteDomains;
  readonly contexts: SqliteContextRows;
  readonly versions: SqliteModelVersions;
}

export class SqliteModels implements Models {
  readonly #session: SqliteSession;
  readonly #parts: Parts;
  readonly #rows: SqliteModelRows;

  constructor(session: SqliteSession, parts: Parts) {
    this.#session = session;
    this.#parts = parts;
    this.#rows = new SqliteModelRows(session);
  }

  list(domain: string, page: Page): Promise<Paged<Model>> {
    return this.#session.read(() => this.#rows.list(this.#parts.domains.require(domain).id, page));
  }

  get(key: ModelKey, version?: number): Promise<ModelAt> {
    return this.#session.read(() => this.#at(key, version));
  }

  async contentRef(key: ModelKey, part: 'schema' | 'context', version?: number): Promise<ContentRef> {
    const ref = await this.#session.get(() => this.#rows.contentRef(key, part, version));
    // The slower way tells what is missing.
    return ref ?? (await this.get(key, version)).version[part];
  }

  texts(key: ModelKey, version?: number): Promise<ModelTexts> {
    return this.#session.read(() => {
      const at = this.#at(key, version);
      const { schema, context, references } = at.version;
      return {
        ...at,
        schema: this.#text(schema),
        context: this.#text(context),
        references: new Map(references.map((pinned) => [pinned.uri, this.#text(pinned)])),
      };
    });
  }

  versions(key: ModelKey, page: Page): Promise<Paged<ModelVersion>> {
    return this.#session.read(() => this.#parts.versions.list(this.#require(key).id, page));
  }

  create(key: ModelKey, settings: ModelSettings, version: NewModelVersion): Promise<ModelAt> {
    return this.#session.write(() => {
      const { domains, contexts, versions } = this.#parts;
      const domain = domains.require(key.domain);
      if (this.#rows.find(key) !== undefined) throw new AlreadyExistsError(thingOf(key));
      const contextName = generatedContextName(key);
      if (contexts.find(contextName) !== undefined) {
        throw new AlreadyExistsError({ kind: 'context', name: contextName });
      }
      const now = this.#session.clock.now();
      const id = this.#rows.insert(domain.id, key.name, settings, now);
      versions.append({ id, contextId: contexts.insert(contextName, id, now) }, 1, version, now);
      domains.touch(domain);
      return this.#at(key);
    });
  }

  update(
    key: ModelKey,
    {
      settings,
      version,
    }: { readonly settings: ModelSettings; readonly version?: NewModelVersion | undefined },
    ifMatch?: IfMatch,
  ): Promise<ModelAt> {
    return this.#session.write(() => {
      const { domains, versions } = this.#parts;
      const row = this.#require(key);
      requireMatch(thingOf(key), etagOf(row), ifMatch);
      if (version !== undefined || !hasSettings(row, settings)) {
        const now = timeAfter(row.modifiedAt, this.#session.clock);
        const number = row.currentVersion + (version === undefined ? 0 : 1);
        if (version !== undefined) versions.append(row, number, version, now);
        this.#rows.update(row.id, settings, number, now);
        domains.touch(domains.require(key.domain));
      }
      return this.#at(key);
    });
  }

  delete(key: ModelKey, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(() => {
      const { dependents, domains } = this.#parts;
      const row = this.#require(key);
      requireMatch(thingOf(key), etagOf(row), ifMatch);
      dependents.requireUnusedContext(row.contextId, thingOf(key));
      this.#rows.delete(row.id);
      domains.touch(domains.require(key.domain));
    });
  }

  #require(key: ModelKey): ModelRow {
    const row = this.#rows.find(key);
    if (row !== undefined) return row;
    this.#parts.domains.require(key.domain);
    throw new NotFoundError(thingOf(key));
  }

  #at(key: ModelKey, version?: number): ModelAt {
    const row = this.#require(key);
    const number = versionParameter(version) ?? row.currentVersion;
    const found = this.#parts.versions.find(row.id, number);
    if (found === undefined) throw new NotFoundError({ ...thingOf(key), version: version ?? number });
    return { model: toModel(row), version: found };
  }

  #text({ sha256 }: ContentRef): string {
    const text = this.#parts.contents.text(sha256);
    if (text === undefined) throw new StoreUnavailableError(`The database has lost content ${sha256}.`);
    return text;
  }
}

function thingOf({ domain, name }: ModelKey): Thing & { readonly kind: 'model' } {
  return { kind: 'model', domain, name };
}
