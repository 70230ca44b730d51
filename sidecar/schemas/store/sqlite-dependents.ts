import type { Dependent, Page, Paged } from './records.js';
import { InUseError, type Thing } from './errors.js';
import { SqliteListing } from './sqlite-rows.js';
import type { SqliteSession } from './sqlite-session.js';

interface DependentRow {
  readonly kind: Dependent['kind'];
  readonly domain: string | null;
  readonly name: string;
  readonly version: number | null;
}

type ById = SqliteListing<{ readonly id: number }, DependentRow>;

/** What depends on what; each reader takes an id, and is to be called within a transaction. */
export class SqliteDependents {
  readonly #ofContext: ById;
  readonly #ofReference: ById;
  readonly #modelsOfDomain: ById;
  readonly #ofContextsOfDomain: ById;

  constructor(session: SqliteSession) {
    const list = (select: string): ById => new SqliteListing(session, select, 'kind, domain, name');
    this.#ofContext = list(usersOfContexts('used.id = @id', 'model.id IS NOT used.model_id'));
    this.#ofReference = list(USERS_OF_REFERENCE);
    this.#modelsOfDomain = list(MODELS_OF_DOMAIN);
    this.#ofContextsOfDomain = list(
      usersOfContexts(
        'used.model_id IN (SELECT id FROM model WHERE domain_id = @id)',
        'model.domain_id <> @id',
      ),
    );
  }

  /** The models and contexts that use a context, but for itself and its own model. */
  ofContext(id: number, page: Page): Paged<Dependent> {
    return this.#ofContext.read(page, { id }, toDependent);
  }

  /** The models and documents that name a reference document, but for itself. */
  ofReference(id: number, page: Page): Paged<Dependent> {
    return this.#ofReference.read(page, { id }, toDependent);
  }

  /** @throws InUseError */
  requireUnusedContext(id: number, thing: Thing): void {
    requireNone(thing, this.ofContext(id, NAMED));
  }

  /** @throws InUseError */
  requireUnusedReference(id: number, thing: Thing): void {
    requireNone(thing, this.ofReference(id, NAMED));
  }

  /** @throws InUseError naming the models of a domain */
  requireEmptyDomain(id: number, thing: Thing): void {
    requireNone(thing, this.#modelsOfDomain.read(NAMED, { id }, toDependent));
  }

  /** @throws InUseError naming what uses a domain's contexts from outside of it */
  requireUnusedDomain(id: number, thing: Thing): void {
    requireNone(thing, this.#ofContextsOfDomain.read(NAMED, { id }, toDependent));
  }
}

/** As many as an error names. */
const NAMED: Page = { limit: 100, offset: 0 };

function requireNone(thing: Thing, { items, total }: Paged<Dependent>): void {
  if (total > 0) throw new InUseError(thing, items, total);
}

function toDependent({ kind, domain, name, version }: DependentRow): Dependent {
  switch (kind) {
    case 'model':
      return { kind, domain: domain ?? '', name, version: version ?? 0 };
    case 'context':
      return { kind, name, version: version ?? 0 };
    case 'reference':
      return { kind, uri: name };
  }
}

const USERS_OF_REFERENCE = `
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, max(uses.number) AS version
  FROM model_uses_reference AS uses
    JOIN model ON model.id = uses.model_id
    JOIN domain ON domain.id = model.domain_id
  WHERE uses.reference_id = @id
  GROUP BY model.id
  UNION ALL
  SELECT 'reference', NULL, reference.uri, NULL
  FROM reference AS used
    JOIN reference_uses_uri AS uses ON uses.uri = used.uri
    JOIN reference ON reference.id = uses.reference_id
  WHERE used.id = @id AND reference.id <> @id`;

const MODELS_OF_DOMAIN = `
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, model.current_version AS version
  FROM model JOIN domain ON domain.id = model.domain_id
  WHERE domain.id = @id`;

/** @param target which contexts are used; @param outside which models count */
function usersOfContexts(target: string, outside: string): string {
  return `
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, max(uses.number) AS version
  FROM context AS used
    JOIN model_uses_context AS uses ON uses.used_id = used.id
    JOIN model ON model.id = uses.model_id
    JOIN domain ON domain.id = model.domain_id
  WHERE ${target} AND ${outside}
  GROUP BY model.id
  UNION ALL
  SELECT 'context', NULL, context.name, max(uses.number)
  FROM context AS used
    JOIN context_uses_context AS uses ON uses.used_id = used.id
    JOIN context ON context.id = uses.context_id
  WHERE ${target} AND context.id <> used.id
  GROUP BY context.id`;
}
