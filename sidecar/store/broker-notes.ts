/** What a process has learnt about a broker, as it wrote it down for others. */
export interface BrokerNote {
  /** Names one start of one process. */
  readonly writer: string;
  /** Its format is up to the writers. */
  readonly text: string;
}

/** Another process has written a note. */
export interface BrokerNotice {
  readonly what: 'learnt';
  readonly writer: string;
}

/** What processes share about brokers: one note of each process about each broker, which is soon outdated. */
export interface BrokerNotes {
  /**
   * The notes about a broker, the newest first, at most a hundred.
   *
   * @param withinMs older notes are left out
   * @returns also the time of the store, in milliseconds
   */
  read(
    broker: string,
    withinMs: number,
  ): Promise<{ readonly nowMs: number; readonly notes: readonly BrokerNote[] }>;
  /**
   * Replaces the writer's note about a broker, and notifies the other processes.
   *
   * @param withinMs notes of all brokers that are older are deleted
   * @throws UnstorableTextError
   */
  write(broker: string, note: BrokerNote, withinMs: number): Promise<void>;
}
