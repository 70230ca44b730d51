import { first, isStorable, run, type SqlSession, statement } from './sql-work.js';

/** Invalid entities of a scan, as they are kept for a finding. */
export interface FoundEntity {
  readonly id: string;
  readonly type: string;
  readonly errors: readonly { readonly pointer: string; readonly keyword: string; readonly detail: string }[];
}

/** Entities of one finding that follow each other. */
export interface FoundEntities {
  /** Names the finding in its scan. */
  readonly finding: string;
  /** Position of the first of them among all that are kept of the finding. */
  readonly first: number;
  readonly entities: readonly FoundEntity[];
}

const IS_HELD = 'EXISTS (SELECT 1 FROM job WHERE id = @scan AND lease = @lease AND ended_at IS NULL)';
const KEEP = statement<{
  scan: string;
  finding: string;
  first: number;
  count: number;
  entities: string;
  lease: number;
}>(`
  INSERT INTO scan_entities (scan, finding, first, count, entities)
  SELECT @scan, @finding, CAST(@first AS bigint), CAST(@count AS bigint), @entities WHERE ${IS_HELD}`);
const CLEAR = statement<{ scan: string; lease: number }>(
  `DELETE FROM scan_entities WHERE scan = @scan AND ${IS_HELD}`,
);
const READ = statement<
  { scan: string; finding: string; from: number },
  { readonly first: number; readonly entities: string }
>(`
  SELECT first, entities FROM scan_entities
  WHERE scan = @scan AND finding = @finding AND first <= @from AND first + count > @from`);

const COUNT = statement<{ scan: string; finding: string }, { readonly count: number }>(
  'SELECT CAST(coalesce(sum(count), 0) AS bigint) AS count FROM scan_entities WHERE scan = @scan AND finding = @finding',
);

/** The entities of the findings of scans; they go with the record of their scan. */
export class SqlScanEntities {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  /** Keeps entities. Nothing happens where another process has the scan. */
  async keep(scan: string, lease: number, found: readonly FoundEntities[]): Promise<void> {
    const rows = found.map((one) => ({
      scan,
      lease,
      finding: one.finding,
      first: one.first,
      count: one.entities.length,
      entities: JSON.stringify(one.entities),
    }));
    await this.#session.change(function* () {
      for (const row of rows) yield* run(KEEP, row);
    });
  }

  /** Forgets all of a scan that begins anew. Nothing happens where another process has it. */
  async clear(scan: string, lease: number): Promise<void> {
    await this.#session.change(() => run(CLEAR, { scan, lease }));
  }

  /** How many are kept of a finding. */
  async count(scan: string, finding: string): Promise<number> {
    const row = isStorable(scan) ? await this.#session.get(() => first(COUNT, { scan, finding })) : undefined;
    return row?.count ?? 0;
  }

  /** The entities of a finding from a position on, some at least if there are any. */
  async read(scan: string, finding: string, from: number): Promise<readonly FoundEntity[]> {
    if (!isStorable(scan)) return [];
    const row = await this.#session.get(() => first(READ, { scan, finding, from }));
    return row === undefined
      ? []
      : (JSON.parse(row.entities) as readonly FoundEntity[]).slice(from - row.first);
  }
}

export type ScanEntities = Pick<SqlScanEntities, keyof SqlScanEntities>;
