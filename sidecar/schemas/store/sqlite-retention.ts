import type { Statement } from 'better-sqlite3';
import { isStorable, NotFoundError, PreconditionFailedError, requireStorable } from './errors.js';
import type { Page, Paged } from './records.js';
import type {
  NewRetentionPolicy,
  RetentionAuthor,
  RetentionPolicies,
  RetentionPolicy,
  RetentionSettings,
} from './retention-records.js';
import { etagOf, requireMatch, SqliteListing, timeAfter } from './sqlite-rows.js';
import type { SqliteSession } from './sqlite-session.js';
import type { IfMatch } from './store.js';

interface Row {
  readonly name: string;
  readonly settings: string;
  readonly author: string;
  readonly doneUntil: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

type Writable = Row & { readonly enabled: 0 | 1 };

export class SqliteRetention implements RetentionPolicies {
  readonly #session: SqliteSession;
  readonly #listing: SqliteListing<object, Row>;
  readonly #find: Statement<[string], Row>;
  readonly #enabled: Statement<[], Row>;
  readonly #upsert: Statement<[Writable]>;
  readonly #claim: Statement<[number, string, number]>;
  readonly #delete: Statement<[string]>;

  constructor(session: SqliteSession) {
    this.#session = session;
    const select = `
      SELECT name, settings, author, done_until AS doneUntil, created_at AS createdAt, modified_at AS modifiedAt
      FROM retention_policy`;
    this.#listing = new SqliteListing(session, select, 'name');
    this.#find = session.prepare(`${select} WHERE name = ?`);
    this.#enabled = session.prepare(`${select} WHERE enabled = 1 ORDER BY name`);
    this.#upsert = session.prepare(`
      INSERT INTO retention_policy (name, settings, author, enabled, done_until, created_at, modified_at)
      VALUES (@name, @settings, @author, @enabled, @doneUntil, @createdAt, @modifiedAt)
      ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, author = excluded.author,
        enabled = excluded.enabled, done_until = excluded.done_until, modified_at = excluded.modified_at`);
    this.#claim = session.prepare(
      'UPDATE retention_policy SET done_until = ? WHERE name = ? AND done_until = ? AND enabled = 1',
    );
    this.#delete = session.prepare('DELETE FROM retention_policy WHERE name = ?');
  }

  list(page: Page): Promise<Paged<RetentionPolicy>> {
    return this.#session.read(() => this.#listing.read(page, {}, policyOf));
  }

  get(name: string): Promise<RetentionPolicy> {
    return this.#session.get(() => policyOf(this.#require(name)));
  }

  put({ name, settings, author }: NewRetentionPolicy, expected?: 'absent' | 'present' | IfMatch) {
    return this.#session.write(() => {
      const before = isStorable(name) ? this.#find.get(name) : undefined;
      requireExpected(name, before, expected);
      const texts = { settings: JSON.stringify(settings), author: JSON.stringify(author) };
      requireStorable({ name, ...texts });
      const now = timeAfter(before?.modifiedAt ?? -Infinity, this.#session.clock);
      this.#upsert.run({
        ...{ name, ...texts, enabled: settings.enabled ? 1 : 0 },
        doneUntil: before === undefined || startsAnew(settingsOf(before), settings) ? now : before.doneUntil,
        createdAt: before?.createdAt ?? now,
        modifiedAt: now,
      });
      return { policy: policyOf(this.#require(name)), isNew: before === undefined };
    });
  }

  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(() => {
      requireMatch({ kind: 'retention policy', name }, etagOfRow(this.#require(name)), ifMatch);
      this.#delete.run(name);
    });
  }

  enabled(): Promise<readonly RetentionPolicy[]> {
    return this.#session.get(() => this.#enabled.all().map(policyOf));
  }

  claim(name: string, from: number, until: number): Promise<boolean> {
    return this.#session.write(() => this.#claim.run(until, name, from).changes === 1);
  }

  #require(name: string): Row {
    const row = isStorable(name) ? this.#find.get(name) : undefined;
    if (row === undefined) throw new NotFoundError({ kind: 'retention policy', name });
    return row;
  }
}

/** Whether what was due of a policy before it was replaced is of no more concern. */
export function startsAnew(before: RetentionSettings, after: RetentionSettings): boolean {
  const isOther = before.schedule !== after.schedule || before.timeZone !== after.timeZone;
  return isOther || (after.enabled && !before.enabled);
}

function requireExpected(
  name: string,
  before: Row | undefined,
  expected: 'absent' | 'present' | IfMatch | undefined,
): void {
  if (expected === undefined) return;
  const etag = before === undefined ? undefined : etagOfRow(before);
  const holds =
    expected === 'absent'
      ? etag === undefined
      : etag !== undefined && (expected === 'present' || expected.includes(etag));
  if (!holds) throw new PreconditionFailedError({ kind: 'retention policy', name }, etag);
}

/** What the schedule has come to is not the user's, and changes no ETag. */
function etagOfRow({ name, settings, author, createdAt, modifiedAt }: Row): string {
  return etagOf({ name, settings, author, createdAt, modifiedAt });
}

function policyOf(row: Row): RetentionPolicy {
  const { name, doneUntil, createdAt, modifiedAt } = row;
  const author = JSON.parse(row.author) as RetentionAuthor;
  return { name, settings: settingsOf(row), author, doneUntil, createdAt, modifiedAt, etag: etagOfRow(row) };
}

function settingsOf({ settings }: Row): RetentionSettings {
  return JSON.parse(settings) as RetentionSettings;
}
