import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { Client, type ClientBase } from 'pg';
import { GatewayError } from '../shared/errors.js';
import { DatabaseUnusableError } from './errors.js';
import { openForReading } from './open-database.js';
import { connectionConfig, placeOf } from './postgres-config.js';
import { codeOf, messageOf } from './postgres-errors.js';
import { migrateTo } from './postgres-migrations.js';
import { newestFormat } from './formats.js';
import { formatOf, SQLITE_MIGRATIONS } from './sqlite-migrations.js';

export interface CopyReport {
  /** Number of rows in each table. */
  readonly counts: Readonly<Record<string, number>>;
  /** SHA-256 of all rows, in hex. */
  readonly sha256: string;
  /** False when the target already held the same records. */
  readonly isChanged: boolean;
  /** Names of the gateways whose purges have not ended; any gateway on the copy can continue them. */
  readonly workers: readonly string[];
}

interface Table {
  readonly name: string;
  /** The key columns come first. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

/** All tables with records; referenced tables come before those that refer to them. */
const TABLES = [
  'content',
  'domain',
  'model',
  'context',
  'context_version',
  'model_version',
  'reference',
  'model_uses_reference',
  'model_uses_context',
  'context_uses_context',
  'context_uses_reference',
  'model_own_context',
  'model_example',
  'reference_uses_uri',
  'model_term',
  'job',
  'scan_entities',
  'retention_policy',
  'write_policy',
];

/** Which process works on a purge is not part of its record: at the target, the next gateway that polls takes it over. */
const NOT_COPIED: ReadonlySet<string> = new Set(['holder', 'held_until', 'lease']);

/** Tables whose ids PostgreSQL generates, with the id column. */
const NUMBERED = { domain: 'id', model: 'id', context: 'id', reference: 'id', job: 'number' } as const;

type Row = readonly (string | number | null)[];
/** The number of rows to read at a time; texts may be large. */
function pageOf({ name }: Table): number {
  return name === 'content' ? 10 : 500;
}

type ReadPage = (table: Table, after: Row | undefined) => Promise<readonly Row[]>;

/**
 * Copies all records of a SQLite store to PostgreSQL, with their ids and ETags, in one transaction. Can be repeated:
 * records written by an earlier copy are replaced, unless they were changed since.
 *
 * @param path of the SQLite file
 * @param url of the PostgreSQL database, whose schema is created or migrated first
 * @throws DatabaseUnusableError if nothing was copied; SqliteMissingError
 */
export async function copyToPostgres(path: string, url: string): Promise<CopyReport> {
  const source = openForReading(path);
  try {
    if (formatOf(source) < newestFormat(SQLITE_MIGRATIONS))
      throw new DatabaseUnusableError(
        `${path} has an older format. Bring it up to date first: ngsi-ld-gateway migrate --database ${path}`,
      );
    // A transaction, so that all pages are from one snapshot.
    source.exec('BEGIN');
    return await copy(source, url);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const code = codeOf(error);
    throw new DatabaseUnusableError(
      `Nothing was copied to ${placeOf(url)}: ${messageOf(error)}${code === '' ? '' : ` (${code})`}.`,
      { cause: error },
    );
  } finally {
    source.close();
  }
}

async function copy(source: Database, url: string): Promise<CopyReport> {
  const tables = TABLES.map((name) => tableOf(source, name));
  const config = connectionConfig(url);
  await migrateTo(url);
  const client = new Client({ ...config, query_timeout: 0 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'");
    await client.query(`LOCK TABLE ${TABLES.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    const wanted = await digest(tables, sqlitePages(source));
    const found = await digest(tables, postgresPages(client));
    const isChanged = found.sha256 !== wanted.sha256;
    if (isChanged) {
      await requireReplaceable(client, found, placeOf(url));
      await replaceAll(client, tables, sqlitePages(source));
      const written = await digest(tables, postgresPages(client));
      if (written.sha256 !== wanted.sha256)
        throw new DatabaseUnusableError(
          `${placeOf(url)} returned different records from those written to it, and was left as it was.`,
        );
    }
    await client.query('DELETE FROM last_copy');
    await client.query('INSERT INTO last_copy VALUES ($1)', [wanted.sha256]);
    await client.query('UPDATE revision SET number = number + 1');
    await client.query('COMMIT');
    return { ...wanted, isChanged, workers: unfinishedWorkers(source) };
  } finally {
    await client.end();
  }
}

/** @throws DatabaseUnusableError if the target holds records that no copy has written */
async function requireReplaceable(client: ClientBase, found: Digest, place: string): Promise<void> {
  if (Object.values(found.counts).every((count) => count === 0)) return;
  const { rows } = await client.query<{ sha256: string }>('SELECT sha256 FROM last_copy');
  if (rows[0]?.sha256 === found.sha256) return;
  throw new DatabaseUnusableError(
    `${place} contains records that no copy has written, or that were changed ` +
      'since, and was left as it was. Name an empty database or schema.',
  );
}

async function replaceAll(client: ClientBase, tables: readonly Table[], read: ReadPage): Promise<void> {
  await client.query(`TRUNCATE ${TABLES.join(', ')} RESTART IDENTITY`);
  for (const table of tables) {
    const { name, columns } = table;
    const values = columns.map((_, index) => `$${String(index + 1)}`).join(', ');
    const text = `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${values})`;
    for await (const row of rowsOf(table, read))
      await client.query({ name: `copy ${name}`, text, values: [...row] });
  }
  for (const [name, id] of Object.entries(NUMBERED))
    await client.query(
      `SELECT setval(pg_get_serial_sequence('${name}', '${id}'), max(${id})) FROM ${name} HAVING max(${id}) IS NOT NULL`,
    );
}

interface Digest {
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
}

async function digest(tables: readonly Table[], read: ReadPage): Promise<Digest> {
  const hash = createHash('sha256');
  const counts: Record<string, number> = {};
  for (const table of tables) {
    let count = 0;
    for await (const row of rowsOf(table, read)) {
      hash.update(`${JSON.stringify(row)}\n`);
      count += 1;
    }
    hash.update(`${table.name}: ${String(count)}\n`);
    counts[table.name] = count;
  }
  return { counts, sha256: hash.digest('hex') };
}

/** Yields all rows of a table in key order, which is the same on both databases. */
async function* rowsOf(table: Table, read: ReadPage): AsyncGenerator<Row, void> {
  for (let last: Row | undefined; ;) {
    const rows = await read(table, last);
    yield* rows;
    last = rows.at(-1);
    if (last === undefined) return;
  }
}

function sqlitePages(db: Database): ReadPage {
  return async (table, after) => {
    const statement = db.prepare(selectOf(table, after, () => '?')).raw();
    return statement.all(...(after?.slice(0, table.key.length) ?? [])) as Row[];
  };
}

function postgresPages(client: ClientBase): ReadPage {
  return async (table, after) => {
    const text = selectOf(table, after, (index) => `$${String(index + 1)}`);
    const { rows } = await client.query<(string | number | null)[]>({
      text,
      values: [...(after?.slice(0, table.key.length) ?? [])],
      rowMode: 'array',
    });
    return rows;
  };
}

function selectOf(table: Table, after: Row | undefined, parameter: (index: number) => string): string {
  const { name, columns, key } = table;
  const where =
    after === undefined
      ? ''
      : `WHERE (${key.join(', ')}) > (${key.map((_, index) => parameter(index)).join(', ')})`;
  return `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${key.join(', ')} LIMIT ${String(pageOf(table))}`;
}

/** Describes a table of the source; the target has all its columns. */
function tableOf(db: Database, name: string): Table {
  const found = db.pragma(`table_info(${name})`) as readonly { readonly name: string; readonly pk: number }[];
  const columns = found.filter((column) => !NOT_COPIED.has(column.name));
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
  const others = columns.filter(({ pk }) => pk === 0);
  return {
    name,
    columns: [...key, ...others].map((column) => column.name),
    key: key.map((column) => column.name),
  };
}

function unfinishedWorkers(db: Database): readonly string[] {
  const records = db.prepare<[], string>('SELECT record FROM job WHERE ended_at IS NULL').pluck().all();
  return [...new Set(records.map((record) => (JSON.parse(record) as { worker: string }).worker))].sort();
}
