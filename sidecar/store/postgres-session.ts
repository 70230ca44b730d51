import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import type { PoolClient, QueryConfig } from 'pg';
import type { Clock } from '../shared/clock.js';
import { StoreUnavailableError, UnstorableError } from './errors.js';
import type { PostgresConnections } from './postgres-connections.js';
import { messageOf, StatementFailure, unavailable } from './postgres-errors.js';
import {
  first,
  LOCK_WAIT_MS,
  run,
  type SqlSession,
  type Statement,
  statement,
  type SqlRoutine,
} from './sql-routines.js';

/** Number of attempts to run a transaction if connections break or other writers interfere. */
const ATTEMPTS = 4;

/** How many writes of this process may wait for each other; further ones fail at once. */
const MAX_WAITING = 1000;

const OUTCOME_UNKNOWN =
  'The connection to the database broke during a write, and it is not known whether the write took effect';

const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Each statement sees what was committed before it began: after waiting for a lock, it sees what the others wrote. */
const WRITE = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** Holds the lock of the only row until the transaction ends. */
const NEXT_REVISION = statement<object>('UPDATE revision SET number = number + 1');
const REVISION = statement<object, { readonly number: number }>('SELECT number FROM revision');
/** The database's clock, which all processes share. */
const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const CHECK = statement<object>('UPDATE write_check SET number = number + 1');

/** Runs the statements and transactions of a store on PostgreSQL, and translates errors. */
export class PostgresSession implements SqlSession {
  /** Only one write of this process at a time waits for those of others; more would take up all connections. */
  readonly #writes = pLimit(1);

  constructor(
    private readonly connections: PostgresConnections,
    readonly clock: Clock,
  ) {}

  get<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#attempt((client) => drive(client, work()));
  }

  read<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#attempt((client) => transaction(client, READ, work));
  }

  async write<T>(work: () => SqlRoutine<T>): Promise<T> {
    if (this.#writes.pendingCount >= MAX_WAITING) throw tooMany();
    const untilMs = this.clock.monotonicMs() + LOCK_WAIT_MS;
    return this.#writes(() => {
      if (this.clock.monotonicMs() > untilMs) throw tooMany();
      return this.change(function* () {
        yield* run(NEXT_REVISION, {});
        return yield* work();
      });
    });
  }

  change<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#attempt((client) => transaction(client, WRITE, work));
  }

  async revision(): Promise<string> {
    return String((await this.get(() => first(REVISION, {})))?.number);
  }

  async checkWritable(): Promise<void> {
    await this.change(() => run(CHECK, {}));
  }

  async #attempt<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.connections.use(work);
      } catch (error) {
        if (!(error instanceof StatementFailure)) throw error;
        const { kind, cause } = error;
        if (attempt < ATTEMPTS && (kind === 'lost' || kind === 'conflict')) continue;
        if (kind === 'unstorable')
          throw new UnstorableError(`The database refuses the data: ${messageOf(cause)}`, { cause });
        if (kind === 'unknown') throw unavailable(OUTCOME_UNKNOWN, cause);
        throw unavailable(`The database failed: ${messageOf(cause)}`, cause);
      }
    }
  }
}

async function transaction<T>(client: PoolClient, begin: string, work: () => SqlRoutine<T>): Promise<T> {
  await query(client, begin);
  let result: T;
  try {
    result = await drive(client, work());
  } catch (error) {
    if (!(error instanceof StatementFailure && error.isBroken)) await query(client, 'ROLLBACK');
    throw error;
  }
  await commit(client);
  return result;
}

/** @throws StatementFailure, of kind `unknown` if the connection broke before the answer */
async function commit(client: PoolClient): Promise<void> {
  try {
    await query(client, 'COMMIT');
  } catch (error) {
    if (!(error instanceof StatementFailure) || !error.isBroken) throw error;
    throw new StatementFailure(error.cause, 'unknown');
  }
}

async function drive<T>(client: PoolClient, work: SqlRoutine<T>): Promise<T> {
  let next = work.next();
  while (next.done !== true) {
    const { statement, parameters } = next.value;
    const { name, text, names } = translated(statement);
    const values = names.map((each) => (parameters as Readonly<Record<string, unknown>>)[each]);
    const { rows, rowCount } = await query(client, { name, text, values });
    next = work.next({ rows, changes: rowCount ?? 0 });
  }
  return next.value;
}

/** @throws StatementFailure */
async function query(client: PoolClient, what: string | QueryConfig) {
  try {
    return await client.query<object>(what);
  } catch (error) {
    throw new StatementFailure(error);
  }
}

interface Translated {
  /**
   * The name of the prepared statement on a connection: it is parsed and planned only once. Made from the text, so that a
   * pooler that hands one gateway the connection of another can never make this name run a different statement.
   */
  readonly name: string;
  readonly text: string;
  /** The names of the parameters `$1`, `$2` … */
  readonly names: readonly string[];
}

const translations = new Map<Statement<never, unknown>, Translated>();

/** Translates a statement to numbered parameters. */
function translated(statement: Statement<never, unknown>): Translated {
  let found = translations.get(statement);
  if (found === undefined) {
    const names: string[] = [];
    const text = statement.sql.replaceAll('now_ms()', NOW_MS).replaceAll(/@(\w+)/g, (_, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
    found = { name: hash('sha256', text).slice(0, 32), text, names };
    translations.set(statement, found);
  }
  return found;
}

function tooMany(): StoreUnavailableError {
  return new StoreUnavailableError('Too many writes are waiting for each other.');
}
