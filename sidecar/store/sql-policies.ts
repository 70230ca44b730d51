import { NotFoundError } from './errors.js';
import type {
  NewRetentionPolicy,
  NewWritePolicy,
  RetentionAuthor,
  RetentionPolicy,
  RetentionSettings,
  WritePolicy,
  WritePolicySettings,
} from './policy-records.js';
import type { Page, Paged } from './records.js';
import {
  all,
  etagOf,
  type Expected,
  first,
  type IfMatch,
  isStorable,
  mapPage,
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

/** The columns that all kinds of policies have. */
interface Row {
  readonly name: string;
  readonly settings: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Makes the statements that all kinds of policies need. @param columns the columns of this kind only */
function tableOf<Columns>(table: string, columns: string) {
  const select = `
  SELECT name, settings, ${columns}, created_at AS "createdAt", modified_at AS "modifiedAt" FROM ${table}`;
  return {
    select,
    listing: new SqlListing<object, Row & Columns>(select, 'name'),
    find: statement<{ name: string }, Row & Columns>(`${select} WHERE name = @name`),
    remove: statement<{ name: string }>(`DELETE FROM ${table} WHERE name = @name`),
  };
}

/** Stores policies of one kind. */
abstract class SqlPolicies<
  Columns,
  Policy extends { readonly etag: string },
  New extends { readonly name: string },
> {
  protected abstract readonly kind: 'retention policy' | 'write policy';
  protected abstract readonly table: ReturnType<typeof tableOf<Columns>>;

  constructor(protected readonly session: SqlSession) {}

  protected abstract policyOf(row: Row & Columns): Policy;

  /** Writes a policy. @param before the row that it replaces */
  protected abstract write(policy: New, before: (Row & Columns) | undefined, times: Times): SqlRoutine<void>;

  /** Lists policies by name. */
  async list(page: Page): Promise<Paged<Policy>> {
    const rows = await this.session.read(() => this.table.listing.read(page, {}));
    return mapPage(rows, (row) => this.policyOf(row));
  }

  /** @throws NotFoundError */
  async get(name: string): Promise<Policy> {
    return this.policyOf(await this.session.get(() => this.#require(name)));
  }

  /** Creates or replaces a policy. @throws PreconditionFailedError, UnstorableTextError */
  put(policy: New, expected?: Expected): Promise<{ readonly policy: Policy; readonly isNew: boolean }> {
    return this.session.write(() => this.#put(policy, expected));
  }

  /** @throws NotFoundError, PreconditionFailedError */
  delete(name: string, ifMatch?: IfMatch): Promise<void> {
    return this.session.write(() => this.#delete(name, ifMatch));
  }

  *#put(policy: New, expected: Expected): SqlRoutine<{ readonly policy: Policy; readonly isNew: boolean }> {
    const { name } = policy;
    const before = yield* this.#find(name);
    requireExpected({ kind: this.kind, name }, before && this.policyOf(before).etag, expected);
    const modifiedAt = timeAfter(before?.modifiedAt ?? -Infinity, this.session.clock);
    yield* this.write(policy, before, { createdAt: before?.createdAt ?? modifiedAt, modifiedAt });
    return { policy: this.policyOf(yield* this.#require(name)), isNew: before === undefined };
  }

  *#delete(name: string, ifMatch: IfMatch | undefined): SqlRoutine<void> {
    const { etag } = this.policyOf(yield* this.#require(name));
    requireMatch({ kind: this.kind, name }, etag, ifMatch);
    yield* run(this.table.remove, { name });
  }

  *#find(name: string): SqlRoutine<(Row & Columns) | undefined> {
    return isStorable(name) ? yield* first(this.table.find, { name }) : undefined;
  }

  *#require(name: string): SqlRoutine<Row & Columns> {
    const row = yield* this.#find(name);
    if (row === undefined) throw new NotFoundError({ kind: this.kind, name });
    return row;
  }
}

type Times = Pick<Row, 'createdAt' | 'modifiedAt'>;

interface RetentionColumns {
  readonly author: string;
  readonly doneUntil: number;
}

const RETENTION = tableOf<RetentionColumns>('retention_policy', 'author, done_until AS "doneUntil"');
const ENABLED = statement<object, Row & RetentionColumns>(
  `${RETENTION.select} WHERE enabled = 1 ORDER BY name`,
);
const PUT_RETENTION = statement<Row & RetentionColumns & { readonly enabled: 0 | 1 }>(`
  INSERT INTO retention_policy (name, settings, author, enabled, done_until, created_at, modified_at)
  VALUES (@name, @settings, @author, @enabled, @doneUntil, @createdAt, @modifiedAt)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, author = excluded.author,
    enabled = excluded.enabled, done_until = excluded.done_until, modified_at = excluded.modified_at`);
const CLAIM = statement<{ name: string; from: number; until: number }>(
  'UPDATE retention_policy SET done_until = @until WHERE name = @name AND done_until = @from AND enabled = 1',
);

/**
 * Stores retention policies. For a new policy, and one whose schedule changed or that was just enabled, nothing before
 * now is due.
 */
export class SqlRetention extends SqlPolicies<RetentionColumns, RetentionPolicy, NewRetentionPolicy> {
  protected override readonly kind = 'retention policy';
  protected override readonly table = RETENTION;

  /** Returns the enabled policies, by name. */
  async enabled(): Promise<readonly RetentionPolicy[]> {
    return (await this.session.get(() => all(ENABLED, {}))).map((row) => this.policyOf(row));
  }

  /**
   * Claims the due runs of a policy, so that no other process starts them.
   *
   * @param from the `doneUntil` that was read
   * @param until the new `doneUntil`
   * @returns false if `doneUntil` has changed in the meantime, or the policy was deleted or disabled
   */
  async claim(name: string, from: number, until: number): Promise<boolean> {
    return (await this.session.write(() => run(CLAIM, { name, from, until }))) === 1;
  }

  protected override *write(
    { name, settings, author }: NewRetentionPolicy,
    before: (Row & RetentionColumns) | undefined,
    times: Times,
  ): SqlRoutine<void> {
    const texts = { settings: JSON.stringify(settings), author: JSON.stringify(author) };
    requireStorable({ name, ...texts });
    const isAnew = before === undefined || startsAnew(settingsOf(before), settings);
    yield* run(PUT_RETENTION, {
      name,
      ...texts,
      ...times,
      enabled: settings.enabled ? 1 : 0,
      doneUntil: isAnew ? times.modifiedAt : before.doneUntil,
    });
  }

  protected override policyOf(row: Row & RetentionColumns): RetentionPolicy {
    const { name, settings, author, doneUntil, createdAt, modifiedAt } = row;
    return {
      name,
      doneUntil,
      createdAt,
      modifiedAt,
      settings: settingsOf(row),
      author: JSON.parse(author) as RetentionAuthor,
      // The position in the schedule is not part of the user's settings, so it does not change the ETag.
      etag: etagOf({ name, settings, author, createdAt, modifiedAt }),
    };
  }
}

export type RetentionPolicies = Pick<SqlRetention, keyof SqlRetention>;

/** Whether runs that were due before a policy was replaced no longer matter. */
function startsAnew(before: RetentionSettings, after: RetentionSettings): boolean {
  const isOther = before.schedule !== after.schedule || before.timeZone !== after.timeZone;
  return isOther || (after.enabled && !before.enabled);
}

function settingsOf({ settings }: Row): RetentionSettings {
  return JSON.parse(settings) as RetentionSettings;
}

interface WriteColumns {
  readonly caller: string;
}

const WRITES = tableOf<WriteColumns>('write_policy', 'caller');
const PUT_WRITES = statement<Row & WriteColumns>(`
  INSERT INTO write_policy (name, settings, caller, created_at, modified_at)
  VALUES (@name, @settings, @caller, @createdAt, @modifiedAt)
  ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, caller = excluded.caller,
    modified_at = excluded.modified_at`);

export class SqlWritePolicies extends SqlPolicies<WriteColumns, WritePolicy, NewWritePolicy> {
  protected override readonly kind = 'write policy';
  protected override readonly table = WRITES;

  protected override *write(
    { name, settings: given, caller }: NewWritePolicy,
    _before: Row | undefined,
    times: Times,
  ): SqlRoutine<void> {
    const settings = JSON.stringify(given);
    requireStorable({ name, settings, caller });
    yield* run(PUT_WRITES, { name, settings, caller, ...times });
  }

  protected override policyOf(row: Row & WriteColumns): WritePolicy {
    return { ...row, settings: JSON.parse(row.settings) as WritePolicySettings, etag: etagOf(row) };
  }
}

export type WritePolicies = Pick<SqlWritePolicies, keyof SqlWritePolicies>;
