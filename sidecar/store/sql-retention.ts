import { NotFoundError } from './errors.js';
import type { Page, Paged } from './records.js';
import type {
  NewRetentionPolicy,
  RetentionAuthor,
  RetentionPolicies,
  RetentionPolicy,
  RetentionSettings,
} from './retention-records.js';
import {
  all,
  etagOf,
  first,
  isStorable,
  mapped,
  requireExpected,
  requireMatch,
  requireStorable,
  run,
  SqlListing,
  type SqlSession,
  statement,
  timeAfter,
  type Work,
} from './sql-work.js';
import type { Expected, IfMatch } from './store.js';

interface Row {
  readonly name: string;
  readonly settings: string;
  readonly author: string;
  readonly doneUntil: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

type Writable = Row & { readonly enabled: 0 | 1 };

const SELECT = `
  SELECT name, settings, author, done_until AS "doneUntil", created_at AS "createdAt", modified_at AS "modifiedAt"
  FROM retention_policy`;
const LISTING = new SqlListing<object, Row>(SELECT, 'name');
const FIND = statement<{ name: string }, Row>(`${SELECT} WHERE name = @name`);
const ENABLED = statement<object, Row>(`${SELECT} WHERE enabled = 1 ORDER BY name`);
const UPSERT = statement<Writable>(`
  INSERT INTO retention_policy (name, settings, author, enabled, done_until, created_at, modified_at)
  VALUES (@name, @settings, @author, @enabled, @doneUntil, @createdAt, @modifiedAt)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, author = excluded.author,
    enabled = excluded.enabled, done_until = excluded.done_until, modified_at = excluded.modified_at`);
const CLAIM = statement<{ name: string; from: number; until: number }>(
  'UPDATE retention_policy SET done_until = @until WHERE name = @name AND done_until = @from AND enabled = 1',
);
const DELETE = statement<{ name: string }>('DELETE FROM retention_policy WHERE name = @name');

export class SqlRetention implements RetentionPolicies {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async list(page: Page): Promise<Paged<RetentionPolicy>> {
    return mapped(await this.#session.read(() => LISTING.read(page, {})), policyOf);
  }

  async get(name: string): Promise<RetentionPolicy> {
    return policyOf(await this.#session.get(() => requirePolicy(name)));
  }

  put(policy: NewRetentionPolicy, expected?: Expected) {
    return this.#session.write(() => this.#put(policy, expected));
  }

  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(function* () {
      requireMatch({ kind: 'retention policy', name }, etagOfRow(yield* requirePolicy(name)), ifMatch);
      yield* run(DELETE, { name });
    });
  }

  async enabled(): Promise<readonly RetentionPolicy[]> {
    return (await this.#session.get(() => all(ENABLED, {}))).map(policyOf);
  }

  async claim(name: string, from: number, until: number): Promise<boolean> {
    return (await this.#session.write(() => run(CLAIM, { name, from, until }))) === 1;
  }

  *#put(
    { name, settings, author }: NewRetentionPolicy,
    expected: Expected,
  ): Work<{ readonly policy: RetentionPolicy; readonly isNew: boolean }> {
    const before = yield* findPolicy(name);
    requireExpected({ kind: 'retention policy', name }, before && etagOfRow(before), expected);
    const texts = { settings: JSON.stringify(settings), author: JSON.stringify(author) };
    requireStorable({ name, ...texts });
    const now = timeAfter(before?.modifiedAt ?? -Infinity, this.#session.clock);
    yield* run(UPSERT, {
      ...{ name, ...texts, enabled: settings.enabled ? 1 : 0 },
      doneUntil: before === undefined || startsAnew(settingsOf(before), settings) ? now : before.doneUntil,
      createdAt: before?.createdAt ?? now,
      modifiedAt: now,
    });
    return { policy: policyOf(yield* requirePolicy(name)), isNew: before === undefined };
  }
}

function* findPolicy(name: string): Work<Row | undefined> {
  return isStorable(name) ? yield* first(FIND, { name }) : undefined;
}

function* requirePolicy(name: string): Work<Row> {
  const row = yield* findPolicy(name);
  if (row === undefined) throw new NotFoundError({ kind: 'retention policy', name });
  return row;
}

/** Whether what was due of a policy before it was replaced is of no more concern. */
export function startsAnew(before: RetentionSettings, after: RetentionSettings): boolean {
  const isOther = before.schedule !== after.schedule || before.timeZone !== after.timeZone;
  return isOther || (after.enabled && !before.enabled);
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
