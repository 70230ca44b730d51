import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { requireTenants, tenantsOf } from '../../auth/index.js';
import type { NewPurge } from '../../jobs/purge-kinds.js';
import type { PurgeService } from '../../jobs/purge-service.js';
import { JOB_STATES } from '../../store/index.js';
import { optionParameters, optionsOf } from '../../shared/purge-options.js';
import { plusSignHint } from '../../shared/format-value.js';
import { readNewPurge, readJobOrigin, type RequestedPurge } from '../new-purge.js';
import { parameterRefused } from './validation.js';
import { accepted, NDJSON, okWithoutETag, withPurgeId, NO_CONTENT, page, streamed } from './answer.js';
import { EVENTS_SCHEMA, jobEvents } from './job-events.js';
import { HEADER_TEXT, JobQuery, LINK, optionMembers, PURGE, PURGE_CHANGE, TARGET } from './purge-schemas.js';
import { content, empty, json, list, PAGE, Query, TEXT, TextParameter } from './schemas.js';
import { type Api, apiUrl } from './routes.js';
import { isListed, listedTenants } from './tenants.js';
import { defined } from '../../shared/defined.js';

export interface PurgeResourceOptions {
  readonly purges: PurgeService;
}

const tag = 'Purges';

const MAX_BODY_BYTES = 64 * 1024;

const PARAMS = Type.Object({ purge: Type.String({ description: 'Id of a purge.' }) });

const FILTERS = {
  state: Type.Optional(Type.Enum(JOB_STATES, { type: 'string', description: 'The state of the purges.' })),
  tenant: TextParameter(256, 'The tenant that they were for.'),
  caller: TextParameter(256, 'Who started them.'),
  retentionPolicy: TextParameter(256, 'The retention policy whose runs they are.'),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: dry runs alone; false: no dry runs.' })),
  since: TextParameter(40, 'A date or a time (RFC 3339): purges that were created then or later.'),
  until: TextParameter(40, 'A date or a time (RFC 3339): purges that were created before it.'),
  text: TextParameter(1000, 'A part of their query, decoded, in any case.'),
  type: TextParameter(1000, 'An entity type that their query names.'),
};

/** The routes to start, watch, change, cancel and look up purges. */
export function purgeRoutes(api: Api, options: PurgeResourceOptions): void {
  const { purges } = options;
  api.get('/purges', {
    schema: {
      tags: [tag],
      operationId: 'listPurges',
      summary: 'List purges, the newest first',
      querystring: Query({ ...FILTERS, ...PAGE }),
      response: { 200: list('Their records.', PURGE) },
    },
    handler: async (request) => {
      const { query, baseUrl } = request;
      const { since, until, ...filter } = query;
      const times = { since: timeOf('since', since), until: timeOf('until', until) };
      const tenants = listedTenants(request, filter.tenant);
      const { items, total } = await purges.list({ ...filter, ...times, ...tenants });
      // The database knows only one tenant of each job. If a job names two, the caller must be allowed to see both.
      const shown = items.filter((one) => isListed(request, one));
      return page(shown, total, query, apiUrl(baseUrl, 'purges'));
    },
  });

  api.post('/purges', {
    schema: {
      tags: [tag],
      operationId: 'startPurge',
      summary: 'Start a purge',
      description: 'The same as the DELETE of a collection with `Prefer: respond-async`.',
      body: NEW_PURGE,
      response: { 202: json('Its record.', PURGE) },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isVolatile: true, isForDryRuns: true, namesPurge: true },
    handler: async (request) => {
      const { body } = request;
      const purge =
        typeof body.plan === 'string'
          ? await plannedPurge(request, body.plan, purges)
          : { ...readNewPurge(request, readPurgeBody(body), purges), makesPlan: body.plan };
      const record = await purges.submit(purge);
      return withPurgeId(accepted(apiUrl(request.baseUrl, 'purges', record.id), record), record.id);
    },
  });

  api.get('/purges/:purge', {
    schema: {
      tags: [tag],
      operationId: 'getPurge',
      summary: 'Read the record of a purge',
      params: PARAMS,
      response: { 200: json('The record.', PURGE) },
    },
    config: { isVolatile: true },
    handler: async ({ params }) => okWithoutETag(await purges.get(params.purge)),
  });

  api.patch('/purges/:purge', {
    schema: {
      tags: [tag],
      operationId: 'changePurge',
      summary: 'Change the rate or the concurrency of a purge',
      description: 'While it waits or runs, and never above what its policy and the configuration allow.',
      params: PARAMS,
      body: PURGE_CHANGE,
      response: { 200: json('The record.', PURGE) },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isVolatile: true },
    handler: async ({ params, body }) => okWithoutETag(await purges.change(params.purge, defined(body))),
  });

  api.post('/purges/:purge/cancel', {
    schema: {
      tags: [tag],
      operationId: 'cancelPurge',
      summary: 'Cancel a purge',
      description:
        'No new deletes are sent, and those in flight finish. A purge that has ended stays as it is.',
      params: PARAMS,
      response: { 202: json('The record.', PURGE) },
    },
    config: { isVolatile: true, isForDryRuns: true },
    handler: async ({ params, baseUrl }) =>
      accepted(apiUrl(baseUrl, 'purges', params.purge), await purges.cancel(params.purge)),
  });

  api.get('/purges/:purge/events', {
    schema: {
      tags: [tag],
      operationId: 'watchPurge',
      summary: 'Watch a purge by server-sent events',
      params: PARAMS,
      ...EVENTS_SCHEMA,
    },
    config: { isVolatile: true },
    handler: async ({ params: { purge } }, reply) =>
      jobEvents(reply, await purges.get(purge), (signal) => purges.watch(purge, signal)),
  });

  api.get('/purges/:purge/ids', {
    schema: {
      tags: [tag],
      operationId: 'getPurgedIds',
      summary: 'Read what a purge deleted',
      description: 'Of a purge with `record=ids`. If an item has several lines, the last one applies.',
      params: PARAMS,
      response: { 200: content('One JSON object per line.', { [NDJSON]: TEXT }) },
    },
    config: { isVolatile: true },
    handler: async ({ params }) => streamed(await purges.ids(params.purge), NDJSON),
  });

  api.delete('/purges/:purge/ids', {
    schema: {
      tags: [tag],
      operationId: 'deletePurgedIds',
      summary: 'Remove the list of what a purge deleted',
      description: 'Its record is kept.',
      params: PARAMS,
      response: { 204: empty('Removed, or there was none.') },
    },
    config: { isVolatile: true },
    handler: async ({ params }) => {
      await purges.removeIds(params.purge);
      return NO_CONTENT;
    },
  });
}

/** The zone is required, because without it the time would depend on the place. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;

/** Parses a time parameter into milliseconds. A date means its first moment in UTC. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  const advice = plusSignHint(text);
  throw parameterRefused(
    name,
    `must be a date, or a time with its zone, such as 2026-11-28T09:00:00Z${advice}`,
  );
}

/** Returns the purge that applies a plan, at the place of the dry run. */
async function plannedPurge(request: FastifyRequest, plan: string, purges: PurgeService): Promise<NewPurge> {
  const purge = await purges.planned(plan, readJobOrigin(request));
  requireTenants(request.caller, tenantsOf(purge.headers), 'The plan');
  return purge;
}

/** Reads the purge in a body, with its options added to the query. */
function readPurgeBody(body: Static<typeof NEW_PURGE>): RequestedPurge {
  // The schema requires both members unless a plan is applied.
  const { target = 'entities', query = '', tenant, link } = body;
  const options = optionParameters(optionsOf('body', body));
  return {
    target,
    query: [query, ...options].filter((part) => part !== '').join('&'),
    bodyHeaders: defined({ 'ngsild-tenant': tenant, link }),
  };
}

const PLAN = Type.Union([Type.Literal(true), Type.String({ minLength: 1, maxLength: 100 })], {
  description:
    'true, with dryRun: keep the matches for an hour. The id of such a dry ' +
    'run, as the only member: delete those of its matches that still match.',
});

const NEW_PURGE_MEMBERS = {
  target: Type.Optional(TARGET),
  query: Type.Optional(JobQuery('As in the URL of the DELETE.')),
  plan: Type.Optional(PLAN),
  tenant: Type.Optional(HEADER_TEXT),
  link: Type.Optional(LINK),
  ...optionMembers('body'),
};

const NEW_PURGE = Type.Object(NEW_PURGE_MEMBERS, {
  title: 'NewPurge',
  additionalProperties: false,
  // The id of a plan must be the only member.
  if: { properties: { plan: { type: 'string' } }, required: ['plan'] },
  then: {
    maxProperties: 1,
    description: 'must have no member but plan: the query and the options are those of the dry run',
  },
  else: { required: ['target', 'query'] },
});
