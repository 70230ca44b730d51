import { recordsUntilEnd, type Following } from '../client/follow.js';
import type { Schemas } from '../client/operations.js';
import type { Clock } from '../shared/clock.js';
import { CliError, failure } from './exit-codes.js';
import { gatewayFailure } from './gateway-responses.js';

/**
 * Maximum number of attempts in a row to resume an event stream, and the pause before each, in milliseconds: as long as the
 * gateway of deploy/kubernetes may take to be replaced.
 */
const RECONNECTS = 60;
const RECONNECT_MS = 1000;

/**
 * Yields the records of a job until the final one, and gives up if the gateway stays away.
 *
 * @param advice what the user can do if the connection is lost for good; each sentence goes on its own line
 */
export async function* followJob<Job extends Pick<Schemas['Purge'], 'state'>>(
  following: Omit<Following<Job>, 'onBroken'>,
  clock: Clock,
  ...advice: readonly string[]
): AsyncGenerator<Job, void> {
  const onBroken = async (caught: unknown, failures: number) => {
    if (failures <= RECONNECTS) return clock.sleep(RECONNECT_MS, following.stopOn).catch(() => undefined);
    const error = gatewayFailure(caught);
    const { message } = error as Error;
    const known =
      error instanceof CliError ? error : failure(`The connection to the gateway broke: ${message}.`);
    throw gatewayFailure(known, ...advice);
  };
  try {
    yield* recordsUntilEnd({ ...following, onBroken });
  } catch (error) {
    throw gatewayFailure(error);
  }
}
