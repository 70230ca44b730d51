import { readEvents } from '../client/events.js';
import type { Schemas } from '../client/operations.js';
import { isFinal } from '../client/purges.js';
import type { Clock } from '../shared/clock.js';
import { CliError, EXIT, failure } from './exit-codes.js';
import { gatewayFailure } from './gateway-answers.js';

/** Maximum number of attempts in a row to resume an event stream, and the pause before each, in milliseconds. */
const RECONNECTS = 10;
const RECONNECT_MS = 1000;

interface Following {
  readonly what: 'purge' | 'scan';
  readonly clock: Clock;
  /** Stops following. */
  readonly stopOn?: AbortSignal | undefined;
  /** What the user can do if the connection is lost for good. Each sentence goes on its own line. */
  readonly advice?: readonly string[];
}

/**
 * Yields the records of a job from its events, until the final one. A broken stream is resumed after the last event.
 *
 * @param ask requests the stream with these header fields
 * @param read makes a record from the data of an event
 * @throws CliError
 */
export async function* recordsUntilEnd<Job extends Pick<Schemas['Purge'], 'state'>>(
  ask: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  read: (data: string) => Job,
  { what, clock, stopOn, advice = [] }: Following,
): AsyncGenerator<Job, void> {
  let lastId: string | undefined;
  for (let failures = 0; ;) {
    try {
      const seen = lastId === undefined ? {} : { 'last-event-id': lastId };
      const { body } = await ask({ accept: 'text/event-stream', ...seen });
      for await (const event of body === null ? [] : readEvents(body)) {
        const record = read(event.data);
        failures = 0;
        lastId = event.id ?? lastId;
        yield record;
        if (isFinal(record)) return;
      }
      throw failure(`The connection to the gateway ended before the ${what} did.`);
    } catch (caught) {
      if (stopOn?.aborted === true) return;
      const error = gatewayFailure(caught);
      failures += 1;
      // A refusal is final: the job may not exist.
      if (error instanceof CliError && error.exitCode !== EXIT.failed) throw error;
      if (failures > RECONNECTS) {
        const known =
          error instanceof CliError
            ? error
            : failure(`The connection to the gateway broke: ${String(error)}.`, { cause: error });
        throw gatewayFailure(known, ...advice);
      }
      await clock.sleep(RECONNECT_MS, stopOn).catch(() => undefined);
    }
  }
}
