import type { Statement } from 'better-sqlite3';
import { isStorable, NotFoundError, PreconditionFailedError, requireStorable } from './errors.js';
import type {
  Dependent,
  NewReference,
  Page,
  Paged,
  Reference,
  ReferenceSource,
  ReferenceText,
} from './records.js';
import { etagOf, requireMatch, type SqliteContents, SqliteListing, timeAfter } from './sqlite-rows.js';
import type { SqliteDependents } from './sqlite-dependents.js';
import type { SqliteSession } from './sqlite-session.js';
import type { IfMatch, PutReference, References } from './store.js';

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
  readonly uri: string;
  readonly source: ReferenceSource;
  readonly sha256: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export class SqliteReferences implements References {
  readonly #session: SqliteSession;
  readonly #contents: SqliteContents;
  readonly #dependents: SqliteDependents;
  readonly #listing: SqliteListing<object, ReferenceRow>;
  readonly #find: Statement<[string], ReferenceRow>;
  readonly #text: Statement<[string], ReferenceText>;
  readonly #upsert: Statement<[Writable]>;
  readonly #forgetUses: Statement<[number]>;
  readonly #insertUse: Statement<[number, string]>;
  readonly #delete: Statement<[number]>;

  constructor(session: SqliteSession, contents: SqliteContents, dependents: SqliteDependents) {
    this.#session = session;
    this.#contents = contents;
    this.#dependents = dependents;
    const select = `
      SELECT id, uri, source, content.sha256, size, created_at AS createdAt, modified_at AS modifiedAt
      FROM reference JOIN content ON content.sha256 = reference.sha256`;
    this.#listing = new SqliteListing(session, select, 'uri');
    this.#find = session.prepare(`${select} WHERE uri = ?`);
    this.#text = session.prepare(`
      SELECT content.sha256, size, text
      FROM reference JOIN content ON content.sha256 = reference.sha256 WHERE uri = ?`);
    this.#upsert = session.prepare(`
      INSERT INTO reference (uri, source, sha256, created_at, modified_at)
      VALUES (@uri, @source, @sha256, @createdAt, @modifiedAt)
      ON CONFLICT (uri) DO UPDATE
      SET source = excluded.source, sha256 = excluded.sha256, modified_at = excluded.modified_at`);
    this.#forgetUses = session.prepare('DELETE FROM reference_uses_uri WHERE reference_id = ?');
    this.#insertUse = session.prepare('INSERT INTO reference_uses_uri (reference_id, uri) VALUES (?, ?)');
    this.#delete = session.prepare('DELETE FROM reference WHERE id = ?');
  }

  list(page: Page): Promise<Paged<Reference>> {
    return this.#session.read(() => this.#listing.read(page, {}, toReference));
  }

  get(uri: string): Promise<Reference> {
    return this.#session.get(() => toReference(this.#require(uri)));
  }

  texts(uris: Iterable<string>): Promise<ReadonlyMap<string, ReferenceText>> {
    return this.#session.read(() => {
      const texts = new Map<string, ReferenceText>();
      for (const uri of uris) {
        const text = isStorable(uri) ? this.#text.get(uri) : undefined;
        if (text !== undefined) texts.set(uri, text);
      }
      return texts;
    });
  }

  dependents(uri: string, page: Page): Promise<Paged<Dependent>> {
    return this.#session.read(() => this.#dependents.ofReference(this.#require(uri).id, page));
  }

  put(reference: NewReference, expected?: 'absent' | 'present' | IfMatch): Promise<PutReference> {
    return this.#session.write(() => {
      const { uri, source, text, references } = reference;
      const before = this.#lookUp(uri);
      requireExpected(uri, before, expected);
      requireStorable({ uri });
      const sha256 = this.#contents.put('document', text);
      if (before?.sha256 === sha256 && before.source === source) {
        return { reference: toReference(before), outcome: 'unchanged' };
      }
      const modifiedAt = timeAfter(before?.modifiedAt ?? -Infinity, this.#session.clock);
      this.#upsert.run({ uri, source, sha256, createdAt: modifiedAt, modifiedAt });
      const after = this.#require(uri);
      this.#forgetUses.run(after.id);
      for (const used of references) {
        requireStorable({ $ref: used });
        this.#insertUse.run(after.id, used);
      }
      return { reference: toReference(after), outcome: before === undefined ? 'created' : 'replaced' };
    });
  }

  delete(uri: string, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(() => {
      const thing = { kind: 'reference', uri } as const;
      const row = this.#require(uri);
      requireMatch(thing, etagOf(row), ifMatch);
      this.#dependents.requireUnusedReference(row.id, thing);
      this.#delete.run(row.id);
    });
  }

  /** The ids of documents with their expected content, and the URIs of those that are not (or no longer) so. */
  resolve(expected: ReadonlyMap<string, string>): {
    readonly pins: readonly { readonly id: number; readonly sha256: string }[];
    readonly changed: readonly string[];
  } {
    const pins: { id: number; sha256: string }[] = [];
    const changed: string[] = [];
    for (const [uri, sha256] of expected) {
      const row = this.#lookUp(uri);
      if (row?.sha256 === sha256) pins.push({ id: row.id, sha256 });
      else changed.push(uri);
    }
    return { pins, changed };
  }

  #lookUp(uri: string): ReferenceRow | undefined {
    return isStorable(uri) ? this.#find.get(uri) : undefined;
  }

  #require(uri: string): ReferenceRow {
    const row = this.#lookUp(uri);
    if (row === undefined) throw new NotFoundError({ kind: 'reference', uri });
    return row;
  }
}

function requireExpected(
  uri: string,
  row: ReferenceRow | undefined,
  expected: 'absent' | 'present' | IfMatch | undefined,
): void {
  const etag = row === undefined ? undefined : etagOf(row);
  if (!isExpected(etag, expected)) throw new PreconditionFailedError({ kind: 'reference', uri }, etag);
}

function isExpected(etag: string | undefined, expected: 'absent' | 'present' | IfMatch | undefined): boolean {
  if (expected === undefined) return true;
  if (expected === 'absent') return etag === undefined;
  return etag !== undefined && (expected === 'present' || expected.includes(etag));
}

function toReference(row: ReferenceRow): Reference {
  const { uri, source, sha256, size, createdAt, modifiedAt } = row;
  return { uri, source, content: { sha256, size }, createdAt, modifiedAt, etag: etagOf(row) };
}
