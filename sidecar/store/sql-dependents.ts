import type { Dependent, Page, Paged } from './records.js';
import { InUseError, type ResourceRef } from './errors.js';
import { mapPage, SqlListing, type SqlRoutine } from './sql-routines.js';

interface DependentRow {
  readonly kind: Dependent['kind'];
  readonly domain: string | null;
  readonly name: string;
  readonly version: number | null;
}

type ById = SqlListing<{ readonly id: number }, DependentRow>;

/** The number of dependents that an error lists. */
const NAMED: Page = { limit: 100, offset: 0 };

/** Lists the dependents of one of the kinds below; within a transaction. */
export function* dependents(kind: ById, id: number, page: Page): SqlRoutine<Paged<Dependent>> {
  return mapPage(yield* kind.read(page, { id }), toDependent);
}

/** @throws InUseError naming the dependents of this kind, if there are any */
export function* requireUnused(kind: ById, id: number, resource: ResourceRef): SqlRoutine<void> {
  const { items, total } = yield* dependents(kind, id, NAMED);
  if (total > 0) throw new InUseError(resource, items, total);
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

function listing(select: string): ById {
  return new SqlListing(select, 'kind, domain, name');
}

/** @param target a condition for the used contexts; @param outside a condition for the models that count as users */
function usersOfContexts(target: string, outside: string): string {
  return `
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, max(uses.number) AS version
  FROM context AS used
    JOIN model_uses_context AS uses ON uses.used_id = used.id
    JOIN model ON model.id = uses.model_id
    JOIN domain ON domain.id = model.domain_id
  WHERE ${target} AND ${outside}
  GROUP BY model.id, domain.id
  UNION ALL
  SELECT 'context', NULL, context.name, max(uses.number)
  FROM context AS used
    JOIN context_uses_context AS uses ON uses.used_id = used.id
    JOIN context ON context.id = uses.context_id
  WHERE ${target} AND context.id <> used.id
  GROUP BY context.id`;
}

/** The models and contexts that use a context, except for itself and its own model. */
export const OF_CONTEXT = listing(
  usersOfContexts('used.id = @id', 'model.id IS DISTINCT FROM used.model_id'),
);
/** What uses the contexts of a domain from outside the domain. */
export const OF_CONTEXTS_OF_DOMAIN = listing(
  usersOfContexts('used.model_id IN (SELECT id FROM model WHERE domain_id = @id)', 'model.domain_id <> @id'),
);
/** The models, contexts and documents that refer to a reference document, except for itself. */
export const OF_REFERENCE = listing(`
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, max(uses.number) AS version
  FROM model_uses_reference AS uses
    JOIN model ON model.id = uses.model_id
    JOIN domain ON domain.id = model.domain_id
  WHERE uses.reference_id = @id
  GROUP BY model.id, domain.id
  UNION ALL
  SELECT 'model', domain.name, model.name, max(uses.number)
  FROM context_uses_reference AS uses
    JOIN context ON context.id = uses.context_id
    JOIN model ON model.id = context.model_id
    JOIN domain ON domain.id = model.domain_id
  WHERE uses.reference_id = @id AND NOT EXISTS (
    SELECT 1 FROM model_uses_reference AS pins WHERE pins.reference_id = @id AND pins.model_id = model.id)
  GROUP BY model.id, domain.id
  UNION ALL
  SELECT 'context', NULL, context.name, max(uses.number)
  FROM context_uses_reference AS uses
    JOIN context ON context.id = uses.context_id
  WHERE uses.reference_id = @id AND context.model_id IS NULL
  GROUP BY context.id
  UNION ALL
  SELECT 'reference', NULL, reference.uri, NULL
  FROM reference AS used
    JOIN reference_uses_uri AS uses ON uses.uri = used.uri OR (
      uses.file = used.file AND NOT EXISTS (SELECT 1 FROM reference AS named WHERE named.uri = uses.uri))
    JOIN reference ON reference.id = uses.reference_id
  WHERE used.id = @id AND reference.id <> @id
  GROUP BY reference.uri`);
export const MODELS_OF_DOMAIN = listing(`
  SELECT 'model' AS kind, domain.name AS domain, model.name AS name, model.current_version AS version
  FROM model JOIN domain ON domain.id = model.domain_id
  WHERE domain.id = @id`);
