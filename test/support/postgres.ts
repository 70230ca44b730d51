import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { programBeside } from './project.js';

/**
 * A PostgreSQL for a single test, which can be stopped and started. It ends with this process,
 * however that ends.
 */
export class PostgresServer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly url: string;

  /**
   * @param options `durable`: commits are on disk when they are answered; `tls`: encrypted
   * connections are accepted as well
   */
  static async start(...options: readonly ('durable' | 'tls')[]): Promise<PostgresServer> {
    const program = [...programBeside('postgres-server', import.meta.url), ...options];
    // Not in this process's group, so that Ctrl+C does not end it before it has cleaned up.
    const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = await lines.next();
    if (line.done === true) throw new Error('PostgreSQL did not start.');
    child.unref();
    (child.stdout as unknown as { unref(): void }).unref();
    (child.stdin as unknown as { unref(): void }).unref();
    return new PostgresServer(child, lines, line.value);
  }

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, url: string) {
    this.#child = child;
    this.#lines = lines;
    this.url = url;
  }

  /** Stops the server; all connections break. */
  async stop(): Promise<void> {
    await this.#tell('stop');
  }

  /** Starts the server again, on the same port and with the same data. */
  async restart(): Promise<void> {
    await this.#tell('start');
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    this.#child.ref();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }

  async #tell(what: 'stop' | 'start'): Promise<void> {
    this.#child.stdin?.write(`${what}\n`);
    await this.#lines.next();
  }
}

let shared: Promise<PostgresServer> | undefined;
let names = 0;

/**
 * Returns the URL of a PostgreSQL for tests: that of TEST_DATABASE_URL, or one that is started for
 * this process.
 */
export async function postgresUrl(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return given;
  shared ??= PostgresServer.start();
  return (await shared).url;
}

/** Whether a URL leads to a server started by the tests, which asks for passwords. */
export function isOwnServer(url: string): boolean {
  return new URL(url).username === 'tester';
}

/** An empty database that can be dropped. */
export interface TestDatabase {
  readonly url: string;
  /** Runs statements in the database, separately from the tested code. */
  query<Row extends object>(sql: string): Promise<readonly Row[]>;
  /** Drops the database, even if clients are connected. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database.
 * @param server the URL of the server; by default the shared one
 * @param options options of CREATE DATABASE
 */
export async function createDatabase(server?: string, options = ''): Promise<TestDatabase> {
  const base = server ?? (await postgresUrl());
  const name = `gateway_test_${String(process.pid)}_${String((names += 1))}`;
  await query(base, `CREATE DATABASE ${name} ${options}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    query: (sql) => query(url.href, sql),
    drop: async () => {
      await query(base, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/**
 * A database in which stores are opened one after the other. Emptying its tables takes a tenth of
 * the time of creating and migrating another database.
 */
export class StoreDatabase {
  readonly #database: TestDatabase;
  /** Statements that empty the database and restore the rows made by migrations. */
  readonly #restore: string;

  private constructor(database: TestDatabase, restore: string) {
    this.#database = database;
    this.#restore = restore;
  }

  /** @param migrate creates the tables */
  static async create(migrate: (url: string) => Promise<unknown>): Promise<StoreDatabase> {
    const database = await createDatabase();
    await migrate(database.url);
    const tables = await database.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    const rows: string[] = [];
    for (const { name } of tables) {
      const [found] = await database.query<{ json: string | null }>(
        `SELECT json_agg(t)::text AS json FROM ${name} t`,
      );
      if (found?.json)
        rows.push(
          `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, '${found.json}')`,
        );
    }
    const all = tables.map(({ name }) => name).join();
    return new StoreDatabase(database, [`TRUNCATE ${all} RESTART IDENTITY`, ...rows].join(';'));
  }

  get url(): string {
    return this.#database.url;
  }

  /** Resets the database to its state after the migration; no client may be using it. */
  async empty(): Promise<void> {
    await this.#database.query(this.#restore);
  }

  async drop(): Promise<void> {
    await this.#database.drop();
  }
}

async function query<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new Client(url);
  // The connection may be cut on purpose.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
