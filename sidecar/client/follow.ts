import { parsed } from './client.js';
import { ApiError, isRefusedStatus } from './errors.js';
import { readEvents } from './events.js';
import type { Schemas } from './operations.js';
import { isFinal } from './purges.js';

/** The stream of events ended before the job did. */
export class EndedEarlyError extends Error {
  override readonly name = 'EndedEarlyError';
}

export interface Following<Job> {
  /** Requests the stream. With the header fields, it continues after the last event. */
  readonly ask: (headers: Readonly<Record<string, string>>) => Promise<Response>;
  /** Makes a record from the document in an event. */
  readonly read: (document: unknown) => Job;
  /** Called when the stream broke: it waits before the next attempt, or throws to give up. @param failures in a row */
  readonly onBroken: (error: unknown, failures: number) => Promise<unknown>;
  readonly stopOn?: AbortSignal | undefined;
  /** A stream that sends nothing for this long is broken. */
  readonly silentMs?: number;
}

/**
 * Yields the records of a job from its server-sent events, until the final one. A broken stream is requested again, because the
 * job continues.
 *
 * @throws ApiError if the gateway refuses to send the events, and what `onBroken` throws
 */
export async function* recordsUntilEnd<Job extends Pick<Schemas['Purge'], 'state'>>({
  ask,
  read,
  onBroken,
  stopOn,
  silentMs,
}: Following<Job>): AsyncGenerator<Job, void> {
  let lastId: string | undefined;
  for (let failures = 0; ;) {
    try {
      const seen = lastId === undefined ? {} : { 'last-event-id': lastId };
      const { body } = await ask({ accept: 'text/event-stream', ...seen });
      for await (const event of body === null ? [] : readEvents(body, silentMs)) {
        const record = read(parsed(event.data));
        failures = 0;
        lastId = event.id ?? lastId;
        yield record;
        if (isFinal(record)) return;
      }
      throw new EndedEarlyError('it ended before the job did');
    } catch (error) {
      if (stopOn?.aborted === true) return;
      if (error instanceof ApiError && isRefusedStatus(error.problem.status)) throw error;
      failures += 1;
      await onBroken(error, failures);
    }
  }
}
