import { all, requireStorable, run, type SqlSession, statement } from './sql-routines.js';

/** What a process has learnt about a broker, written for other processes. */
export interface BrokerNote {
  /** Identifies one run of one process. */
  readonly writer: string;
  /** Its format is chosen by the writers. */
  readonly text: string;
}

/** Reports that another process has written a note. */
export interface BrokerNotice {
  readonly what: 'learnt';
  readonly writer: string;
}

/** A note and the time of the store. Without any notes, there is still one row, with the time. */
interface Row {
  readonly nowMs: number;
  readonly writer: string | null;
  readonly text: string | null;
}

const READ = statement<{ broker: string; withinMs: number }, Row>(`
  SELECT "nowMs", writer, note AS text
  FROM (SELECT now_ms() AS "nowMs") AS clock
  LEFT JOIN broker_note ON broker = @broker AND written_at > "nowMs" - @withinMs
  ORDER BY written_at DESC, writer
  LIMIT 100`);
const WRITE = statement<BrokerNote & { broker: string }>(`
  INSERT INTO broker_note (broker, writer, note, written_at) VALUES (@broker, @writer, @text, now_ms())
  ON CONFLICT (broker, writer) DO UPDATE SET note = excluded.note, written_at = excluded.written_at`);
const DELETE_EXPIRED = statement<{ withinMs: number }>(
  'DELETE FROM broker_note WHERE written_at <= now_ms() - @withinMs',
);

/** Shares what processes learn about brokers: one note per process and broker, which soon expires. */
export class SqlBrokerNotes {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  /**
   * Returns the notes about a broker, newest first, at most 100.
   *
   * @param withinMs older notes are skipped
   * @returns the notes, and the time of the store in milliseconds
   */
  async read(
    broker: string,
    withinMs: number,
  ): Promise<{ readonly nowMs: number; readonly notes: readonly BrokerNote[] }> {
    const rows = await this.#session.get(() => all(READ, { broker, withinMs }));
    return {
      nowMs: rows[0]?.nowMs ?? NaN,
      notes: rows.flatMap(({ writer, text }) => (writer === null || text === null ? [] : [{ writer, text }])),
    };
  }

  /**
   * Replaces the writer's note about a broker, and notifies the other processes.
   *
   * @param withinMs older notes, about any broker, are deleted
   * @throws UnstorableTextError
   */
  async write(broker: string, { writer, text }: BrokerNote, withinMs: number): Promise<void> {
    requireStorable({ broker, writer, note: text });
    await this.#session.change(function* () {
      yield* run(DELETE_EXPIRED, { withinMs });
      yield* run(WRITE, { broker, writer, text });
    });
  }
}

export type BrokerNotes = Pick<SqlBrokerNotes, keyof SqlBrokerNotes>;
