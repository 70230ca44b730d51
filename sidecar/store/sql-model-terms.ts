import type { Model, ModelFilter, ModelTerms, Page, Paged } from './records.js';
import { type ModelRow, SELECT_MODEL, toModel } from './sql-model-rows.js';
import { all, isStorable, mapped, run, SqlListing, statement, type Work } from './sql-work.js';

interface TermRow {
  readonly modelId: number;
  readonly number: number;
  readonly kind: 'type' | 'attribute';
  readonly name: string;
}

type Term = Pick<TermRow, 'kind' | 'name'>;

const TERMS = statement<{ modelId: number }, Term>(
  'SELECT kind, name FROM model_term WHERE model_id = @modelId',
);
const KEEP = statement<Pick<TermRow, 'modelId' | 'number'>>(
  'UPDATE model_term SET number = @number WHERE model_id = @modelId',
);
const REMOVE = statement<Omit<TermRow, 'number'>>(
  'DELETE FROM model_term WHERE model_id = @modelId AND kind = @kind AND name = @name',
);
const INSERT = statement<TermRow>(
  `INSERT INTO model_term (model_id, kind, name, number) VALUES (@modelId, @kind, @name, @number)`,
);

/** UTF-16 units of a name: PostgreSQL indexes 2,704 bytes. */
const MAX_NAME = 512;

/** Keeps the terms of the newest version of a model in the place of those of an older one; within a transaction. */
export function* putTerms(modelId: number, number: number, { types, attributes }: ModelTerms): Work<void> {
  const terms = [
    ...types.map((name): Term => ({ kind: 'type', name })),
    ...attributes.map((name): Term => ({ kind: 'attribute', name })),
  ];
  // A schema may describe names that no text, or no index, of a database can hold; no search can name them.
  const missing = new Map(
    terms
      .filter(({ name }) => name.length <= MAX_NAME && isStorable(name))
      .map((term) => [`${term.kind} ${term.name}`, term]),
  );
  for (const { kind, name } of yield* all(TERMS, { modelId }))
    if (!missing.delete(`${kind} ${name}`)) yield* run(REMOVE, { modelId, kind, name });
  // Versions of a model have most terms in common.
  yield* run(KEEP, { modelId, number });
  for (const term of missing.values()) yield* run(INSERT, { modelId, number, ...term });
}

interface Filter {
  readonly domain: string | null;
  readonly type: string | null;
  readonly attribute: string | null;
  /** A pattern of LIKE, in small letters. */
  readonly part: string | null;
}

function hasTerm(kind: TermRow['kind']): string {
  return `(CAST(@${kind} AS text) IS NULL OR EXISTS (SELECT 1 FROM model_term AS term
    WHERE term.kind = '${kind}' AND term.name = @${kind} AND term.model_id = model.id AND term.number = model.current_version))`;
}

const LIKE = `LIKE @part ESCAPE '!'`;

const MATCHES = new SqlListing<Filter, ModelRow>(
  `${SELECT_MODEL}
  WHERE (CAST(@domain AS text) IS NULL OR domain.name = @domain)
    AND ${hasTerm('type')}
    AND ${hasTerm('attribute')}
    AND (CAST(@part AS text) IS NULL OR lower(model.name) ${LIKE} OR lower(model.description) ${LIKE}
      OR EXISTS (SELECT 1 FROM model_term AS term
        WHERE term.model_id = model.id AND term.number = model.current_version AND lower(term.name) ${LIKE}))`,
  'domain, name',
);

/** Models of all domains, by domain and name; within a transaction. */
export function* searchModels(filter: ModelFilter, page: Page): Work<Paged<Model>> {
  const { domain, type, attribute, q } = filter;
  if (![domain, type, attribute, q].every((text) => text === undefined || isStorable(text)))
    return { items: [], total: 0 };
  const found = yield* MATCHES.read(page, {
    domain: domain ?? null,
    type: type ?? null,
    attribute: attribute ?? null,
    part: q === undefined ? null : `%${small(q).replaceAll(/[!%_]/g, '!$&')}%`,
  });
  return mapped(found, toModel);
}

/** As databases make letters small: those of ASCII alone. */
function small(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
