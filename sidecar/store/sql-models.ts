import { AlreadyExistsError, NotFoundError, StoreUnavailableError } from './errors.js';
import {
  generatedContextName,
  type ContentRef,
  type CurrentVersion,
  type Model,
  type ModelAt,
  type ModelFilter,
  type ModelKey,
  type ModelSettings,
  type ModelTerms,
  type ModelTexts,
  type ModelVersion,
  type NewExamples,
  type NewModelVersion,
  type Page,
  type Paged,
} from './records.js';
import { findContext, insertContext } from './sql-contexts.js';
import { OF_CONTEXT, requireUnused } from './sql-dependents.js';
import { requireDomain, type SqlDomains } from './sql-domains.js';
import { replaceExamples } from './sql-examples.js';
import {
  appendVersion,
  currentVersions,
  deleteModel,
  deleteVersion,
  findModel,
  findVersion,
  hasSettings,
  insertModel,
  listModels,
  listVersions,
  modelRef,
  type ModelRow,
  requireModel,
  SELECT_MODEL,
  toModel,
  updateModel,
} from './sql-model-rows.js';
import {
  all,
  contentText,
  etagOf,
  type IfMatch,
  isStorable,
  mapPage,
  requireMatch,
  run,
  SqlListing,
  type SqlSession,
  statement,
  timeAfter,
  versionParameter,
  type SqlRoutine,
} from './sql-routines.js';

interface ModelUpdate {
  readonly settings: ModelSettings;
  /** A version to add, with the same version of the generated context. */
  readonly version?: NewModelVersion | undefined;
  /** Whether the version replaces the current one, which is that of a draft. */
  readonly replaces?: boolean | undefined;
  /** Replace all examples of the model, which changes neither its ETag nor its times. */
  readonly examples?: NewExamples | undefined;
}

/** Replaces the terms of a version that has none, because a replaced draft keeps its number. */
const NO_TERMS: ModelTerms = { types: [], attributes: [] };

export class SqlModels {
  constructor(
    private readonly session: SqlSession,
    private readonly domains: SqlDomains,
  ) {}

  /** @throws NotFoundError if the domain does not exist */
  list(domain: string, page: Page): Promise<Paged<Model>> {
    return this.session.read(function* () {
      return yield* listModels((yield* requireDomain(domain)).id, page);
    });
  }

  /** @param version the current version if not given @throws NotFoundError */
  get(key: ModelKey, version?: number): Promise<ModelAt> {
    return this.session.read(() => at(key, version));
  }

  /** Returns the current versions of the models of a domain, by model name. @throws NotFoundError for the domain */
  current(domain: string): Promise<readonly CurrentVersion[]> {
    return this.session.read(function* () {
      return yield* currentVersions((yield* requireDomain(domain)).id);
    });
  }

  /** Like `get`, with the texts of the schema and its context. @throws NotFoundError */
  texts(key: ModelKey, version?: number): Promise<ModelTexts> {
    return this.session.read(function* () {
      const found = yield* at(key, version);
      const { ownContext } = found.model;
      return {
        ...found,
        schema: yield* textOf(found.version.schema),
        context: yield* textOf(found.version.context),
        ownContext: ownContext === undefined ? undefined : yield* textOf(ownContext),
      };
    });
  }

  /** Finds models of all domains, ordered by domain and name. Models without terms are found by name and description only. */
  search(filter: ModelFilter, page: Page): Promise<Paged<Model>> {
    return this.session.read(() => searchModels(filter, page));
  }

  /** Lists versions, oldest first. @throws NotFoundError */
  versions(key: ModelKey, page: Page): Promise<Paged<ModelVersion>> {
    return this.session.read(function* () {
      return yield* listVersions((yield* requireModel(key)).id, page);
    });
  }

  /**
   * Creates a model, its version 1, its generated context, and its examples.
   *
   * @throws NotFoundError if the domain does not exist, AlreadyExistsError, DependencyChangedError
   */
  create(
    key: ModelKey,
    settings: ModelSettings,
    version: NewModelVersion,
    examples: NewExamples = new Map(),
  ): Promise<ModelAt> {
    const { session, domains } = this;
    return session.write(function* () {
      const domain = yield* requireDomain(key.domain);
      if ((yield* findModel(key)) !== undefined) throw new AlreadyExistsError(modelRef(key));
      const contextName = generatedContextName(key);
      if ((yield* findContext(contextName)) !== undefined)
        throw new AlreadyExistsError({ kind: 'context', name: contextName });
      const now = session.clock.now();
      const id = yield* insertModel(domain.id, key.name, settings, now);
      const contextId = yield* insertContext(contextName, id, now);
      yield* appendVersion({ id, contextId }, 1, version, now);
      if (version.terms !== undefined) yield* putTerms(id, version.terms);
      yield* replaceExamples(id, examples);
      yield* domains.touch(domain);
      return yield* at(key);
    });
  }

  /**
   * Replaces the settings. An update that changes nothing keeps the ETag.
   *
   * @throws NotFoundError, PreconditionFailedError, DependencyChangedError
   */
  update(key: ModelKey, update: ModelUpdate, ifMatch?: IfMatch): Promise<ModelAt> {
    const { settings, version, replaces = false, examples } = update;
    const { session, domains } = this;
    return session.write(function* () {
      const row = yield* requireModel(key);
      requireMatch(modelRef(key), etagOf(row), ifMatch);
      if (version !== undefined || !hasSettings(row, settings)) {
        const now = timeAfter(row.modifiedAt, session.clock);
        const number = row.currentVersion + (version === undefined || replaces ? 0 : 1);
        if (version !== undefined && replaces) yield* deleteVersion(row, number);
        if (version !== undefined) yield* appendVersion(row, number, version, now);
        if (version !== undefined) yield* putTerms(row.id, version.terms ?? NO_TERMS);
        yield* updateModel(row.id, settings, number, now);
        yield* domains.touch(yield* requireDomain(key.domain));
      }
      if (examples !== undefined) yield* replaceExamples(row.id, examples);
      return yield* at(key);
    });
  }

  /**
   * Deletes a model with its versions, its generated context and its examples.
   *
   * @throws NotFoundError, PreconditionFailedError, InUseError if something uses its context
   */
  delete(key: ModelKey, ifMatch?: IfMatch): Promise<void> {
    const { session, domains } = this;
    return session.write(function* () {
      const row = yield* requireModel(key);
      requireMatch(modelRef(key), etagOf(row), ifMatch);
      yield* requireUnused(OF_CONTEXT, row.contextId, modelRef(key));
      yield* deleteModel(row.id);
      yield* domains.touch(yield* requireDomain(key.domain));
    });
  }
}

export type Models = Pick<SqlModels, keyof SqlModels>;

function* at(key: ModelKey, version?: number): SqlRoutine<ModelAt> {
  const row = yield* requireModel(key);
  const number = versionParameter(version) ?? row.currentVersion;
  const found = yield* findVersion(row.id, number);
  if (found === undefined) throw new NotFoundError({ ...modelRef(key), version: version ?? number });
  return { model: toModel(row), version: found };
}

function* textOf({ sha256 }: ContentRef): SqlRoutine<string> {
  const text = yield* contentText(sha256);
  if (text === undefined) throw new StoreUnavailableError(`The database is missing the content ${sha256}.`);
  return text;
}

interface TermRow {
  readonly modelId: number;
  readonly kind: 'type' | 'attribute';
  readonly name: string;
}

type Term = Pick<TermRow, 'kind' | 'name'>;

const TERMS = statement<{ modelId: number }, Term>(
  'SELECT kind, name FROM model_term WHERE model_id = @modelId',
);
const REMOVE = statement<TermRow>(
  'DELETE FROM model_term WHERE model_id = @modelId AND kind = @kind AND name = @name',
);
const INSERT = statement<TermRow>(
  'INSERT INTO model_term (model_id, kind, name) VALUES (@modelId, @kind, @name)',
);

/** Maximum length of a name in UTF-16 units: PostgreSQL can index 2,704 bytes. */
const MAX_NAME = 512;

/** Replaces the terms of the previous version of a model by those of the newest; within a transaction. */
function* putTerms(modelId: number, { types, attributes }: ModelTerms): SqlRoutine<void> {
  const terms = [
    ...types.map((name): Term => ({ kind: 'type', name })),
    ...attributes.map((name): Term => ({ kind: 'attribute', name })),
  ];
  // A schema may describe names that cannot be stored or indexed in a database; no search can find those.
  const missing = new Map(
    terms
      .filter(({ name }) => name.length <= MAX_NAME && isStorable(name))
      .map((term) => [`${term.kind} ${term.name}`, term]),
  );
  // Versions of a model have most terms in common, so common terms are kept.
  for (const { kind, name } of yield* all(TERMS, { modelId }))
    if (!missing.delete(`${kind} ${name}`)) yield* run(REMOVE, { modelId, kind, name });
  for (const term of missing.values()) yield* run(INSERT, { modelId, ...term });
}

interface Filter {
  readonly domain: string | null;
  readonly type: string | null;
  readonly attribute: string | null;
  /** A LIKE pattern, in lower case. */
  readonly part: string | null;
}

function hasTerm(kind: TermRow['kind']): string {
  return `(CAST(@${kind} AS text) IS NULL OR EXISTS (SELECT 1 FROM model_term AS term
    WHERE term.kind = '${kind}' AND term.name = @${kind} AND term.model_id = model.id))`;
}

const LIKE = `LIKE @part ESCAPE '!'`;

const MATCHES = new SqlListing<Filter, ModelRow>(
  `${SELECT_MODEL}
  WHERE (CAST(@domain AS text) IS NULL OR domain.name = @domain)
    AND ${hasTerm('type')}
    AND ${hasTerm('attribute')}
    AND (CAST(@part AS text) IS NULL OR lower(model.name) ${LIKE} OR lower(model.description) ${LIKE}
      OR EXISTS (SELECT 1 FROM model_term AS term
        WHERE term.model_id = model.id AND lower(term.name) ${LIKE}))`,
  'domain, name',
);

/** Finds models of all domains, ordered by domain and name; within a transaction. */
function* searchModels(filter: ModelFilter, page: Page): SqlRoutine<Paged<Model>> {
  const { domain, type, attribute, q } = filter;
  if (![domain, type, attribute, q].every((text) => text === undefined || isStorable(text)))
    return { items: [], total: 0 };
  // Only ASCII letters are lower-cased, as the databases do.
  const small = q?.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const found = yield* MATCHES.read(page, {
    domain: domain ?? null,
    type: type ?? null,
    attribute: attribute ?? null,
    part: small === undefined ? null : `%${small.replaceAll(/[!%_]/g, '!$&')}%`,
  });
  return mapPage(found, toModel);
}
