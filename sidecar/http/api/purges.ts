import { createHash } from 'node:crypto';
import { isFinal, PURGE_STATES, type PurgeRecord, type PurgeService } from '../../jobs/purge-service.js';
import { newPurgeOf, type AskedPurge, type RequesterOptions } from '../new-purge.js';
import { accepted, current, namingPurge, NO_CONTENT, page } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { PAGE, parameters } from './parameters.js';
import { defined, HEADER_TEXT, POSITIVE, PURGE, TARGET } from './purge-schemas.js';
import { apiUrl } from './routes.js';
import { TEXT, type TypeOf } from './schema-types.js';

export interface PurgeEndpointsOptions extends RequesterOptions {
  readonly purges: PurgeService;
}

const tag = 'Purges';

/** How often a stream of events without news shows that it is alive. */
const HEARTBEAT_MS = 15_000;

const MAX_BODY_BYTES = 64 * 1024;

const FILTERS = {
  state: { type: 'string', enum: PURGE_STATES, description: 'The state of the purges.' },
  tenant: { type: 'string', maxLength: 256, description: 'The tenant that they were for.' },
  caller: { type: 'string', maxLength: 256, description: 'Who started them.' },
  dryRun: { type: 'boolean', description: 'true: dry runs alone; false: no dry runs.' },
} as const;

/** Purges as resources: started, watched, changed, cancelled and looked up. */
export function purgeEndpoints(options: PurgeEndpointsOptions): readonly Endpoint[] {
  const { purges } = options;
  return [
    endpoint({
      method: 'GET',
      path: '/purges',
      id: 'listPurges',
      tag,
      summary: 'List purges, the newest first',
      query: parameters({ ...FILTERS, ...PAGE }),
      isPrivate: true,
      answers: {
        200: {
          description: 'Their records.',
          content: { 'application/json': { type: 'array', items: PURGE } },
          isPage: true,
        },
      },
      handle: async ({ query, baseUrl }) => {
        const { items, total } = await purges.list(query);
        return page(items, total, query, apiUrl(baseUrl, 'purges'));
      },
    }),
    endpoint({
      method: 'POST',
      path: '/purges',
      id: 'startPurge',
      isVolatile: true,
      tag,
      summary: 'Start a purge',
      description: 'The same as the DELETE of a collection with `Prefer: respond-async`.',
      body: NEW_PURGE,
      bodyMaxBytes: MAX_BODY_BYTES,
      answers: {
        202: { description: 'Its record.', content: { 'application/json': PURGE }, namesPurge: true },
      },
      problems: ['badRequestData', 'forbiddenByPolicy', 'jobSecretMissing', 'notSupported', 'tooManyPurges'],
      handle: async ({ body, baseUrl, request }) => {
        const record = await purges.submit(newPurgeOf(request, askedIn(body), options));
        return namingPurge(accepted(apiUrl(baseUrl, 'purges', record.id), record), record.id);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/purges/:purge',
      id: 'getPurge',
      isVolatile: true,
      tag,
      summary: 'Read the record of a purge',
      isPrivate: true,
      answers: { 200: { description: 'The record.', content: { 'application/json': PURGE } } },
      handle: async ({ params }) => current(await purges.get(params.purge)),
    }),
    endpoint({
      method: 'PATCH',
      path: '/purges/:purge',
      id: 'changePurge',
      isVolatile: true,
      tag,
      summary: 'Change how hard a purge works',
      description: 'While it waits or runs, and never above what its policy and the configuration allow.',
      body: CHANGE,
      bodyMaxBytes: MAX_BODY_BYTES,
      answers: { 200: { description: 'The record.', content: { 'application/json': PURGE } } },
      problems: ['purgeOver'],
      handle: async ({ params, body }) => current(await purges.change(params.purge, defined(body))),
    }),
    endpoint({
      method: 'POST',
      path: '/purges/:purge/cancel',
      id: 'cancelPurge',
      isVolatile: true,
      tag,
      summary: 'Cancel a purge',
      description:
        'No new deletes are sent, and those in flight finish. A purge that has ended stays as it is.',
      answers: { 202: { description: 'The record.', content: { 'application/json': PURGE } } },
      handle: async ({ params, baseUrl }) =>
        accepted(apiUrl(baseUrl, 'purges', params.purge), await purges.cancel(params.purge)),
    }),
    endpoint({
      method: 'GET',
      path: '/purges/:purge/events',
      id: 'watchPurge',
      isVolatile: true,
      tag,
      summary: 'Watch a purge by server-sent events',
      description:
        'The record now, and on each change, at most four times a second. The stream ends with the final record.',
      isPrivate: true,
      answers: {
        200: { description: 'Events, each with a record.', content: { 'text/event-stream': TEXT } },
        204: { description: 'The record of Last-Event-ID is final.' },
      },
      handle: async ({ params, request, disconnected }) => {
        const record = await purges.get(params.purge);
        const seen = request.headers['last-event-id'];
        // It makes browsers stop asking again.
        if (isFinal(record.state) && seen === eventIdOf(record)) return { status: 204 };
        const mediaType = 'text/event-stream';
        if (request.method === 'HEAD') return { status: 200, body: { bytes: Buffer.of(), mediaType } };
        return {
          status: 200,
          headers: { 'x-accel-buffering': 'no' },
          stream: {
            text: eventsOf(purges.watch(params.purge, disconnected()), seen),
            mediaType,
          },
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/purges/:purge/ids',
      id: 'getPurgedIds',
      isVolatile: true,
      tag,
      summary: 'Read what a purge deleted',
      description: 'Of a purge with `record=ids`. Where an item has several lines, the last one holds.',
      isPrivate: true,
      answers: {
        200: { description: 'One JSON object a line.', content: { 'application/x-ndjson': TEXT } },
      },
      handle: async ({ params }) => ({
        status: 200,
        stream: { text: await purges.ids(params.purge), mediaType: 'application/x-ndjson' },
      }),
    }),
    endpoint({
      method: 'DELETE',
      path: '/purges/:purge/ids',
      id: 'deletePurgedIds',
      isVolatile: true,
      tag,
      summary: 'Remove the list of what a purge deleted',
      description: 'Its record is kept.',
      answers: { 204: { description: 'Removed, or there was none.' } },
      handle: async ({ params }) => {
        await purges.removeIds(params.purge);
        return NO_CONTENT;
      },
    }),
  ];
}

/** A purge in a body, with its extensions in the query. */
function askedIn(body: TypeOf<typeof NEW_PURGE>): AskedPurge {
  const { target, query, maxAffected, maxPerSecond, dryRun, tenant, link } = body;
  const extensions = Object.entries({ maxAffected, maxPerSecond, dryRun })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`);
  return {
    target,
    query: [query, ...extensions].filter((part) => part !== '').join('&'),
    bodyHeaders: {
      ...(tenant === undefined ? {} : { 'ngsild-tenant': tenant }),
      ...(link === undefined ? {} : { link }),
    },
  };
}

/** Server-sent events (the HTML standard, § 9.2) of a purge. */
async function* eventsOf(
  records: AsyncGenerator<PurgeRecord, void>,
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
function eventIdOf(record: PurgeRecord): string {
  return createHash('sha256').update(JSON.stringify(record)).digest('base64url').slice(0, 16);
}

const NEW_PURGE = {
  title: 'NewPurge',
  type: 'object',
  properties: {
    target: TARGET,
    query: { type: 'string', minLength: 1, maxLength: 16_384, description: 'As in the URL of the DELETE.' },
    tenant: HEADER_TEXT,
    link: {
      ...HEADER_TEXT,
      description: 'A Link header that names one @context: its URL in angle brackets, and its relation.',
    },
    maxAffected: POSITIVE,
    maxPerSecond: POSITIVE,
    dryRun: { type: 'boolean' },
  },
  required: ['target', 'query'],
  additionalProperties: false,
} as const;

const CHANGE = {
  title: 'PurgeChange',
  type: 'object',
  properties: {
    maxPerSecond: { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000_000 },
    concurrency: { type: 'integer', minimum: 1, maximum: 256 },
  },
  minProperties: 1,
  additionalProperties: false,
} as const;
