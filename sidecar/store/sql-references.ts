import { fileKey } from '../shared/code-hosts.js';
import { NotFoundError } from './errors.js';
import {
  type Dependent,
  type NewReference,
  type Page,
  type Paged,
  type Reference,
  type ReferenceSource,
  type ReferenceText,
  type UriVariant,
  soleDocument,
} from './records.js';
import { dependents, OF_REFERENCE, requireUnused } from './sql-dependents.js';
import {
  all,
  etagOf,
  type Expected,
  first,
  type IfMatch,
  insertedId,
  isStorable,
  mapPage,
  putContent,
  requireExpected,
  requireMatch,
  requireStorable,
  run,
  SqlListing,
  type SqlSession,
  statement,
  timeAfter,
  type SqlRoutine,
} from './sql-routines.js';

interface ReferenceRow {
  readonly id: number;
  readonly uri: string;
  readonly source: ReferenceSource;
  readonly sha256: string;
  readonly size: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

interface Writable {
  readonly source: ReferenceSource;
  readonly sha256: string;
  readonly now: number;
}

const SELECT = `
  SELECT id, uri, source, content.sha256, size, created_at AS "createdAt", modified_at AS "modifiedAt"
  FROM reference JOIN content ON content.sha256 = reference.sha256`;
const LISTING = new SqlListing<object, ReferenceRow>(SELECT, 'uri');
const FIND = statement<{ uri: string }, ReferenceRow>(`${SELECT} WHERE uri = @uri`);
/** `named` has the URIs of other documents, separated by line breaks, which no URI contains. */
type TextRow = Omit<ReferenceText, 'named'> & { readonly named: string | null };

const TEXT = statement<{ uri: string }, TextRow>(`
  SELECT uri, content.sha256, size, text,
    (SELECT string_agg(used.uri, '\n') FROM reference_uses_uri AS used WHERE reference_id = reference.id) AS named
  FROM reference JOIN content ON content.sha256 = reference.sha256 WHERE uri = @uri`);
const URI_VARIANTS = statement<{ file: string; uri: string }, UriVariant>(
  'SELECT uri, sha256 FROM reference WHERE file = @file AND uri <> @uri ORDER BY uri LIMIT 100',
);
const INSERT = statement<Writable & { uri: string; file: string }, { readonly id: number }>(`
  INSERT INTO reference (uri, file, source, sha256, created_at, modified_at)
  VALUES (@uri, @file, @source, @sha256, @now, @now) RETURNING id`);
const UPDATE = statement<Writable & { id: number }>(
  'UPDATE reference SET source = @source, sha256 = @sha256, modified_at = @now WHERE id = @id',
);
/** The `file` of a document that cannot be meant by any other URI. */
const NONE = '';
const DELETE_USES = statement<{ id: number }>('DELETE FROM reference_uses_uri WHERE reference_id = @id');
const INSERT_USE = statement<{ id: number; uri: string; file: string | null }>(
  'INSERT INTO reference_uses_uri (reference_id, uri, file) VALUES (@id, @uri, @file)',
);
const DELETE = statement<{ id: number }>('DELETE FROM reference WHERE id = @id');

export interface PutReference {
  readonly reference: Reference;
  /** `unchanged` if both text and source are the same as before. */
  readonly outcome: 'created' | 'replaced' | 'unchanged';
}

export class SqlReferences {
  constructor(private readonly session: SqlSession) {}

  async list(page: Page): Promise<Paged<Reference>> {
    return mapPage(await this.session.read(() => LISTING.read(page, {})), toReference);
  }

  /** @throws NotFoundError */
  async get(uri: string): Promise<Reference> {
    return toReference(await this.session.get(() => requireReference(uri)));
  }

  /**
   * Returns the documents that are stored, by the requested URIs; what they name is not followed. If no document
   * is stored under a URI, one stored under another variant is returned, provided that all variants have the same
   * content.
   */
  texts(uris: Iterable<string>): Promise<ReadonlyMap<string, ReferenceText>> {
    return this.session.read(function* () {
      const texts = new Map<string, ReferenceText>();
      for (const uri of uris) {
        const text = yield* findText(uri);
        if (text !== undefined) texts.set(uri, text);
      }
      return texts;
    });
  }

  /** Lists other URIs under which the file of a URI is stored: at most 100, ordered by URI. See `fileKey`. */
  uriVariants(uri: string): Promise<readonly UriVariant[]> {
    return this.session.read(() => findUriVariants(uri));
  }

  /** Lists the models of which some version pins the document, and what refers to it. @throws NotFoundError */
  dependents(uri: string, page: Page): Promise<Paged<Dependent>> {
    return this.session.read(function* () {
      return yield* dependents(OF_REFERENCE, (yield* requireReference(uri)).id, page);
    });
  }

  /** Creates or replaces a document. Model versions keep the content that they pinned. @throws PreconditionFailedError */
  put({ uri, source, text, references }: NewReference, expected?: Expected): Promise<PutReference> {
    const { clock } = this.session;
    return this.session.write(function* () {
      const before = yield* findReference(uri);
      requireExpected({ kind: 'reference', uri }, before && etagOf(before), expected);
      requireStorable({ uri });
      const sha256 = yield* putContent('document', text);
      if (before?.sha256 === sha256 && before.source === source)
        return { reference: toReference(before), outcome: 'unchanged' };
      const now = timeAfter(before?.modifiedAt ?? -Infinity, clock);
      const id =
        before?.id ?? (yield* insertedId(INSERT, { uri, file: fileKey(uri) ?? NONE, source, sha256, now }));
      if (before !== undefined) yield* run(UPDATE, { id, source, sha256, now });
      yield* run(DELETE_USES, { id });
      for (const used of references) {
        requireStorable({ $ref: used });
        yield* run(INSERT_USE, { id, uri: used, file: fileKey(used) ?? null });
      }
      const after = toReference(yield* requireReference(uri));
      return { reference: after, outcome: before === undefined ? 'created' : 'replaced' };
    });
  }

  /** @throws NotFoundError, PreconditionFailedError, InUseError */
  delete(uri: string, ifMatch?: IfMatch): Promise<void> {
    return this.session.write(function* () {
      const resource = { kind: 'reference', uri } as const;
      const row = yield* requireReference(uri);
      requireMatch(resource, etagOf(row), ifMatch);
      yield* requireUnused(OF_REFERENCE, row.id, resource);
      yield* run(DELETE, { id: row.id });
    });
  }
}

export type References = Pick<SqlReferences, keyof SqlReferences>;

/** Returns the ids of documents that have the expected content, and the URIs of missing or changed ones. */
export function* resolveReferences(expected: ReadonlyMap<string, string>): SqlRoutine<{
  readonly pins: readonly { readonly id: number; readonly sha256: string }[];
  readonly changed: readonly string[];
}> {
  const pins: { id: number; sha256: string }[] = [];
  const changed: string[] = [];
  for (const [uri, sha256] of expected) {
    const row = yield* findReference(uri);
    if (row?.sha256 === sha256) pins.push({ id: row.id, sha256 });
    else changed.push(uri);
  }
  return { pins, changed };
}

function* findText(uri: string): SqlRoutine<ReferenceText | undefined> {
  if (!isStorable(uri)) return undefined;
  const exact = yield* first(TEXT, { uri });
  const found = exact === undefined ? soleDocument(yield* findUriVariants(uri)) : undefined;
  const row = exact ?? (found === undefined ? undefined : yield* first(TEXT, { uri: found.uri }));
  return row && { ...row, named: row.named?.split('\n') ?? [] };
}

function* findUriVariants(uri: string): SqlRoutine<readonly UriVariant[]> {
  const file = isStorable(uri) ? fileKey(uri) : undefined;
  return file === undefined ? [] : yield* all(URI_VARIANTS, { file, uri });
}

function* findReference(uri: string): SqlRoutine<ReferenceRow | undefined> {
  return isStorable(uri) ? yield* first(FIND, { uri }) : undefined;
}

function* requireReference(uri: string): SqlRoutine<ReferenceRow> {
  const row = yield* findReference(uri);
  if (row === undefined) throw new NotFoundError({ kind: 'reference', uri });
  return row;
}

function toReference(row: ReferenceRow): Reference {
  const { uri, source, sha256, size, createdAt, modifiedAt } = row;
  return { uri, source, content: { sha256, size }, createdAt, modifiedAt, etag: etagOf(row) };
}
