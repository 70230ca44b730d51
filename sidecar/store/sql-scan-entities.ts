import { first, isStorable, run, type SqlSession, statement } from './sql-routines.js';

/** An invalid entity of a scan, as stored for a finding. */
export interface FoundEntity {
  readonly id: string;
  readonly type: string;
  readonly errors: readonly { readonly pointer: string; readonly keyword: string; readonly detail: string }[];
}

/** A series of consecutive entities of one finding. */
export interface FoundEntities {
  /** Identifies the finding within its scan. */
  readonly finding: string;
  /** Position of the first of these entities among all that are stored for the finding. */
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

/** Stores the entities of the findings of scans; they are deleted with the record of their scan. */
export class SqlScanEntities {
  constructor(private readonly session: SqlSession) {}

  /** Stores entities. Does nothing if another process holds the scan. */
  async keep(scan: string, lease: number, found: readonly FoundEntities[]): Promise<void> {
    const rows = found.map((one) => ({
      scan,
      lease,
      finding: one.finding,
      first: one.first,
      count: one.entities.length,
      entities: JSON.stringify(one.entities),
    }));
    await this.session.change(function* () {
      for (const row of rows) yield* run(KEEP, row);
    });
  }

  /** Removes all entities of a scan that starts over. Does nothing if another process holds the scan. */
  async clear(scan: string, lease: number): Promise<void> {
    await this.session.change(() => run(CLEAR, { scan, lease }));
  }

  async count(scan: string, finding: string): Promise<number> {
    const row = isStorable(scan) ? await this.session.get(() => first(COUNT, { scan, finding })) : undefined;
    return row?.count ?? 0;
  }

  /** Returns entities of a finding, starting at a position: at least one if there are any. */
  async read(scan: string, finding: string, from: number): Promise<readonly FoundEntity[]> {
    if (!isStorable(scan)) return [];
    const row = await this.session.get(() => first(READ, { scan, finding, from }));
    return row === undefined
      ? []
      : (JSON.parse(row.entities) as readonly FoundEntity[]).slice(from - row.first);
  }
}

export type ScanEntities = Pick<SqlScanEntities, keyof SqlScanEntities>;
