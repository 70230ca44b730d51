import { createHash } from 'node:crypto';

/** How often a stream of events without news shows that it is alive. */
const HEARTBEAT_MS = 15_000;

/**
 * Server-sent events (the HTML standard, § 9.2) of a job.
 *
 * @param records of the job: the one now, and each change
 * @param seen the id of the event that the client has, if any
 */
export async function* eventsOf(
  records: AsyncGenerator<object, void>,
  seen: string | readonly string[] | undefined,
): AsyncGenerator<string, void> {
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    for (let next = records.next(); ;) {
      const beat = new Promise<'beat'>((resolve) => {
        heartbeat = setTimeout(() => resolve('beat'), HEARTBEAT_MS);
      });
      const step = await Promise.race([next, beat]);
      clearTimeout(heartbeat);
      if (step === 'beat') {
        yield ': still there\n\n';
        continue;
      }
      if (step.done === true) return;
      const id = eventIdOf(step.value);
      if (id !== seen) yield `id: ${id}\ndata: ${JSON.stringify(step.value)}\n\n`;
      next = records.next();
    }
  } finally {
    clearTimeout(heartbeat);
  }
}

/** The same for the same record, from any process. */
export function eventIdOf(record: object): string {
  return createHash('sha256').update(JSON.stringify(record)).digest('base64url').slice(0, 16);
}
