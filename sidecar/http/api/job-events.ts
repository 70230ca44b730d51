import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { isFinal, type JobRecord } from '../../store/index.js';
import { disconnectSignal } from '../client-disconnect.js';
import { type Answer, headResponse, NO_CONTENT, REVALIDATE, streamed } from './answer.js';
import { content, empty, TEXT } from './schemas.js';

const EVENTS = 'text/event-stream';

/** The description of an events route, for any kind of job. */
export const EVENTS_SCHEMA = {
  description:
    'The record now, and on each change, at most four times a second. The stream ends with the final ' +
    'record, or when the access token of its request expires.',
  response: {
    200: content('Events, each with a record.', { [EVENTS]: TEXT }),
    204: empty('The record of Last-Event-ID is final.'),
  },
};

/**
 * Answers with the events of a job. If the client has already received the last one, answers 204, which makes browsers
 * stop reconnecting.
 */
export function jobEvents<Record extends JobRecord>(
  reply: FastifyReply,
  record: Record,
  watch: (signal: AbortSignal) => AsyncGenerator<Record, void>,
  shown: (record: Record) => object = (one) => one,
): Answer {
  const { method, headers, caller } = reply.request;
  const seen = headers['last-event-id'];
  if (isFinal(record.state) && seen === eventOf(record, shown).id) return NO_CONTENT;
  if (method === 'HEAD') return headResponse(EVENTS);
  const isLeft = disconnectSignal(reply.raw);
  const records = watch(
    Number.isFinite(caller.validForMs)
      ? AbortSignal.any([isLeft, AbortSignal.timeout(Math.min(caller.validForMs, MAX_TIMER_MS))])
      : isLeft,
  );
  return streamed(eventsOf(records, seen, shown), EVENTS, {
    // Proxies that buffer or compress answers (nginx, Traefik, Caddy) would hold events back.
    'x-accel-buffering': 'no',
    'cache-control': `${REVALIDATE}, no-transform`,
  });
}

/** The longest delay of a Node.js timer: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The interval of comments that keep an event stream without news alive, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/**
 * Generates the server-sent events (the HTML standard, § 9.2) of a job.
 *
 * @param records the current record of the job, and then each changed one
 * @param seen the id of the last event that the client received, if any
 */
export async function* eventsOf<Record extends object>(
  records: AsyncGenerator<Record, void>,
  seen: string | readonly string[] | undefined,
  shown: (record: Record) => object = (one) => one,
): AsyncGenerator<string | Buffer, void> {
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
      const { id, bytes } = eventOf(step.value, shown);
      if (id !== seen) yield bytes;
      next = records.next();
    }
  } finally {
    clearTimeout(heartbeat);
  }
}

interface JobEvent {
  /** The same for the same record in every process. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The events of records. A record may have megabytes, and all who watch its job get the same object. */
const EVENTS_BY_RECORD = new WeakMap<object, JobEvent>();

function eventOf<Record extends object>(record: Record, shown: (record: Record) => object): JobEvent {
  const known = EVENTS_BY_RECORD.get(record);
  if (known !== undefined) return known;
  const data = JSON.stringify(shown(record));
  const id = hash('sha256', data, 'base64url').slice(0, 16);
  const event = { id, bytes: Buffer.from(`id: ${id}\ndata: ${data}\n\n`) };
  EVENTS_BY_RECORD.set(record, event);
  return event;
}
