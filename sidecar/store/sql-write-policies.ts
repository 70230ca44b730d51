import { NotFoundError } from './errors.js';
import type { Page, Paged } from './records.js';
import {
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
import type {
  NewWritePolicy,
  WritePolicies,
  WritePolicy,
  WritePolicySettings,
} from './write-policy-records.js';

interface Row {
  readonly name: string;
  readonly settings: string;
  readonly caller: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

const SELECT = `
  SELECT name, settings, caller, created_at AS "createdAt", modified_at AS "modifiedAt" FROM write_policy`;
const LISTING = new SqlListing<object, Row>(SELECT, 'name');
const FIND = statement<{ name: string }, Row>(`${SELECT} WHERE name = @name`);
const UPSERT = statement<Row>(`
  INSERT INTO write_policy (name, settings, caller, created_at, modified_at)
  VALUES (@name, @settings, @caller, @createdAt, @modifiedAt)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, caller = excluded.caller,
    modified_at = excluded.modified_at`);
const DELETE = statement<{ name: string }>('DELETE FROM write_policy WHERE name = @name');

export class SqlWritePolicies implements WritePolicies {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async list(page: Page): Promise<Paged<WritePolicy>> {
    return mapped(await this.#session.read(() => LISTING.read(page, {})), policyOf);
  }

  async get(name: string): Promise<WritePolicy> {
    return policyOf(await this.#session.get(() => requirePolicy(name)));
  }

  put(policy: NewWritePolicy, expected?: Expected) {
    return this.#session.write(() => this.#put(policy, expected));
  }

  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.#session.write(function* () {
      const { etag } = policyOf(yield* requirePolicy(name));
      requireMatch({ kind: 'write policy', name }, etag, ifMatch);
      yield* run(DELETE, { name });
    });
  }

  *#put(
    { name, settings, caller }: NewWritePolicy,
    expected: Expected,
  ): Work<{ readonly policy: WritePolicy; readonly isNew: boolean }> {
    const before = yield* findPolicy(name);
    requireExpected({ kind: 'write policy', name }, before && policyOf(before).etag, expected);
    const text = JSON.stringify(settings);
    requireStorable({ name, settings: text, caller });
    const now = timeAfter(before?.modifiedAt ?? -Infinity, this.#session.clock);
    const times = { createdAt: before?.createdAt ?? now, modifiedAt: now };
    yield* run(UPSERT, { name, settings: text, caller, ...times });
    return { policy: policyOf(yield* requirePolicy(name)), isNew: before === undefined };
  }
}

function* findPolicy(name: string): Work<Row | undefined> {
  return isStorable(name) ? yield* first(FIND, { name }) : undefined;
}

function* requirePolicy(name: string): Work<Row> {
  const row = yield* findPolicy(name);
  if (row === undefined) throw new NotFoundError({ kind: 'write policy', name });
  return row;
}

function policyOf(row: Row): WritePolicy {
  return { ...row, settings: JSON.parse(row.settings) as WritePolicySettings, etag: etagOf(row) };
}
