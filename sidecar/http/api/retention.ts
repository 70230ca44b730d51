import type { FastifyRequest } from 'fastify';
import { PurgeFailedError } from '../../jobs/errors.js';
import { DEFAULT_RETENTION } from '../../jobs/retention/defaults.js';
import type {
  RetentionCaller,
  RetentionPolicy,
  RetentionService,
} from '../../jobs/retention/retention-service.js';
import { BrokerRefusedError } from '../../purge/errors.js';
import { refused } from '../errors.js';
import { requesterOf, type RequesterOptions } from '../new-purge.js';
import { accepted, created, current, namingPurge, NO_CONTENT, ok, page } from './answer.js';
import { expectedOf, writeOptions } from './conditions.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { NAME, PAGE, parameters } from './parameters.js';
import { defined, HEADER_TEXT, POSITIVE, PURGE, TARGET, UNIT } from './purge-schemas.js';
import { apiUrl } from './routes.js';
import { COUNT, DESCRIPTION, STRINGS, TEXT, TIME, timeText, type TypeOf } from './schema-types.js';

export interface RetentionEndpointsOptions extends RequesterOptions {
  readonly retention: RetentionService;
}

const tag = 'Retention policies';
const POLICIES = '/retention-policies';
const POLICY_PATH = `${POLICIES}/:retentionPolicy`;

const MAX_BODY_BYTES = 64 * 1024;

/** Headers that say which data a purge is for: of a run, its policy says that. */
const DATA_HEADERS = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link'];

/** Retention policies: made, previewed, run, and accounted for. */
export function retentionEndpoints(options: RetentionEndpointsOptions): readonly Endpoint[] {
  const { retention } = options;
  const nameOf = (params: Readonly<Record<'retentionPolicy', string>>) => params.retentionPolicy;
  return [
    endpoint({
      method: 'GET',
      path: POLICIES,
      id: 'listRetentionPolicies',
      tag,
      summary: 'List retention policies',
      query: parameters(PAGE),
      isPrivate: true,
      answers: {
        200: {
          description: 'Policies by name.',
          content: { 'application/json': { type: 'array', items: POLICY } },
          isPage: true,
        },
      },
      handle: async ({ query, baseUrl }) => {
        const { items, total } = await retention.list(query);
        return page(items.map(policyJson), total, query, apiUrl(baseUrl, 'retention-policies'));
      },
    }),
    endpoint({
      method: 'POST',
      path: POLICIES,
      id: 'createRetentionPolicy',
      tag,
      summary: 'Create a retention policy',
      description: 'It reports what it would delete, unless its mode is `enforce`.',
      body: NEW_POLICY,
      bodyMaxBytes: MAX_BODY_BYTES,
      answers: { 201: { description: 'The new policy.', content: { 'application/json': POLICY } } },
      problems: ['alreadyExists', 'badRequestData', 'forbiddenByPolicy'],
      handle: async ({ body: { name, ...settings }, baseUrl, request }) => {
        const policy = await retention.create(name, settingsOf(settings), requesterOf(request, options));
        return created(policyUrl(baseUrl, policy), policyJson(policy), policy.etag);
      },
    }),
    endpoint({
      method: 'GET',
      path: POLICY_PATH,
      id: 'getRetentionPolicy',
      tag,
      summary: 'Read a retention policy',
      isPrivate: true,
      answers: { 200: { description: 'The policy.', content: { 'application/json': POLICY } } },
      handle: async ({ params }) => {
        const policy = await retention.get(nameOf(params));
        return ok(policyJson(policy), policy.etag);
      },
    }),
    endpoint({
      method: 'PUT',
      path: POLICY_PATH,
      id: 'putRetentionPolicy',
      tag,
      summary: 'Create a retention policy, or replace one',
      description: 'Members that are left out get their defaults.',
      body: POLICY_SETTINGS,
      bodyMaxBytes: MAX_BODY_BYTES,
      answers: {
        200: { description: 'Replaced.', content: { 'application/json': POLICY } },
        201: { description: 'Created.', content: { 'application/json': POLICY } },
      },
      problems: ['badRequestData', 'forbiddenByPolicy'],
      isConditional: true,
      handle: async ({ params, body: { name, ...settings }, conditions, baseUrl, request }) => {
        if (name !== undefined && name !== nameOf(params))
          throw refused('invalidRequest', 'name must be the name in the path, or be left out.');
        if (!NAME_PATTERN.test(nameOf(params)))
          throw refused('notFound', `A retention policy cannot have this name. ${NAME.description}`);
        const author = requesterOf(request, options);
        const expected = expectedOf(conditions);
        const { policy, isNew } = await retention.put(nameOf(params), settingsOf(settings), author, expected);
        const json = policyJson(policy);
        return isNew ? created(policyUrl(baseUrl, policy), json, policy.etag) : ok(json, policy.etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: POLICY_PATH,
      id: 'deleteRetentionPolicy',
      tag,
      summary: 'Delete a retention policy',
      description: 'A run that is under way goes on, and the records of its runs are kept.',
      answers: { 204: { description: 'Deleted.' } },
      isConditional: true,
      handle: async ({ params, conditions }) => {
        const { ifMatch } = await writeOptions(conditions, () => retention.get(nameOf(params)));
        await retention.delete(nameOf(params), ifMatch);
        return NO_CONTENT;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${POLICY_PATH}/preview`,
      id: 'previewRetentionPolicy',
      isVolatile: true,
      tag,
      summary: 'Count what a retention policy matches now',
      isPrivate: true,
      answers: {
        200: { description: 'The matches.', content: { 'application/json': PREVIEW }, namesPurge: true },
      },
      problems: ['badRequestData', 'forbiddenByPolicy', 'notSupported', 'tooManyPurges', ...BROKER_PROBLEMS],
      handle: async ({ params, request, disconnected }) => {
        const preview = retention.preview(nameOf(params), callerOf(request, options), disconnected());
        const { id, cutoff, query, report, reportAbove } = await preview.catch(asOurs);
        const { matched, sample, unit, isLowerBound } = report;
        const atLeast = isLowerBound === undefined ? {} : { atLeast: true };
        const counts = { matched, sample, cutoff, query, ...defined({ unit, reportAbove }), ...atLeast };
        return namingPurge(current(counts), id);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${POLICY_PATH}/run`,
      id: 'runRetentionPolicy',
      isVolatile: true,
      tag,
      summary: 'Run a retention policy now',
      description: 'In its own mode, and also when it is disabled. With `If-Match` only as it was read.',
      answers: {
        202: {
          description: 'The record of the run.',
          content: { 'application/json': PURGE },
          namesPurge: true,
        },
      },
      problems: [
        ...['badRequestData', 'forbiddenByPolicy', 'jobSecretMissing', 'notSupported'],
        ...['runUnderWay', 'tooManyPurges'],
      ] as const,
      isConditional: true,
      handle: async ({ params, conditions, request, baseUrl }) => {
        const { ifMatch } = await writeOptions(conditions, () => retention.get(nameOf(params)));
        const record = await retention.run(nameOf(params), callerOf(request, options), ifMatch);
        return namingPurge(accepted(apiUrl(baseUrl, 'purges', record.id), record), record.id);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${POLICY_PATH}/runs`,
      id: 'listRetentionRuns',
      tag,
      summary: 'List the runs of a retention policy, the newest first',
      query: parameters(PAGE),
      isPrivate: true,
      answers: {
        200: {
          description: 'Their records.',
          content: { 'application/json': { type: 'array', items: PURGE } },
          isPage: true,
        },
      },
      handle: async ({ params, query, baseUrl }) => {
        const { items, total } = await retention.runs(nameOf(params), query);
        const url = apiUrl(baseUrl, 'retention-policies', nameOf(params), 'runs');
        return page(items, total, query, url);
      },
    }),
  ];
}

/** What a broker can do to a query. */
const BROKER_PROBLEMS = [
  ...(['filterIgnored', 'unexpectedEntity', 'shuttingDown', 'purgeCancelled'] as const),
  ...(['brokerRefused', 'brokerFailed', 'brokerUnreachable', 'brokerReplyUnusable'] as const),
  ...(['brokerContextUnavailable', 'brokerThrottled', 'brokerTimeout'] as const),
];

const NAME_PATTERN = new RegExp(NAME.pattern);

const SETTINGS = {
  target: TARGET,
  query: { type: 'string', minLength: 1, maxLength: 16_384, description: 'As in the URL of a purge.' },
  tenant: HEADER_TEXT,
  link: {
    ...HEADER_TEXT,
    description: 'A Link header that names one @context: its URL in angle brackets, and its relation.',
  },
  olderThan: { type: 'string', maxLength: 64, description: 'A duration of ISO 8601, such as P90D.' },
  by: {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description:
      'Entities: `modifiedAt`, `createdAt`, an attribute, or its `observedAt` as in `speed.observedAt`. Temporal: `observedAt`, `modifiedAt`, `createdAt`, or `speed.observedAt` for that attribute alone.',
  },
  schedule: {
    type: 'string',
    maxLength: 256,
    description: 'A cron pattern of five fields, without nicknames and extensions: `0 3 * * *`.',
  },
  timeZone: { type: 'string', maxLength: 64, default: DEFAULT_RETENTION.timeZone },
  maxAffected: POSITIVE,
  maxPerSecond: POSITIVE,
  maxGrowth: {
    type: 'number',
    minimum: 0,
    maximum: 1_000_000,
    default: DEFAULT_RETENTION.maxGrowth,
    description:
      'A run that matches more than so many times the median of the last five becomes a report; 0 for no such guard.',
  },
  mode: { type: 'string', enum: ['report', 'enforce'], default: DEFAULT_RETENTION.mode },
  enabled: { type: 'boolean', default: DEFAULT_RETENTION.enabled },
  description: DESCRIPTION,
} as const;

const REQUIRED = ['target', 'query', 'olderThan', 'by', 'schedule'] as const;

const NEW_POLICY = {
  title: 'NewRetentionPolicy',
  type: 'object',
  properties: { name: NAME, ...SETTINGS },
  required: ['name', ...REQUIRED],
  additionalProperties: false,
} as const;

const POLICY_SETTINGS = {
  title: 'RetentionPolicySettings',
  type: 'object',
  properties: { name: { ...NAME, description: 'As in the path.' }, ...SETTINGS },
  required: REQUIRED,
  additionalProperties: false,
} as const;

const POLICY = {
  title: 'RetentionPolicy',
  type: 'object',
  properties: {
    name: NAME,
    ...SETTINGS,
    caller: { ...TEXT, description: 'Who wrote it last.' },
    createdAt: TIME,
    modifiedAt: TIME,
  },
  required: [
    ...(['name', ...REQUIRED, 'timeZone', 'maxGrowth', 'mode', 'enabled', 'caller'] as const),
    ...(['createdAt', 'modifiedAt'] as const),
  ],
  additionalProperties: false,
} as const;

const PREVIEW = {
  title: 'RetentionPreview',
  type: 'object',
  properties: {
    matched: COUNT,
    sample: STRINGS,
    cutoff: { ...TIME, description: 'What is older goes.' },
    query: { ...TEXT, description: 'The query of the purge.' },
    unit: {
      ...UNIT,
      description: 'What is counted; if not given: entities, or attributes with drop or keep.',
    },
    atLeast: { type: 'boolean', description: 'true: there are more than could be counted.' },
    reportAbove: {
      ...COUNT,
      description: 'Given where more match than this, which maxGrowth allows: a run would only report.',
    },
  },
  required: ['matched', 'sample', 'cutoff', 'query'],
  additionalProperties: false,
} as const;

function settingsOf(given: Omit<TypeOf<typeof POLICY_SETTINGS>, 'name'>) {
  const { timeZone, maxGrowth, mode, enabled } = DEFAULT_RETENTION;
  return {
    ...given,
    timeZone: given.timeZone ?? timeZone,
    maxGrowth: given.maxGrowth ?? maxGrowth,
    mode: given.mode ?? mode,
    enabled: given.enabled ?? enabled,
  };
}

function policyUrl(baseUrl: string, { name }: RetentionPolicy): string {
  return apiUrl(baseUrl, 'retention-policies', name);
}

function policyJson({
  name,
  settings,
  author,
  createdAt,
  modifiedAt,
}: RetentionPolicy): TypeOf<typeof POLICY> {
  const times = { createdAt: timeText(createdAt), modifiedAt: timeText(modifiedAt) };
  return { name, ...settings, caller: author.caller, ...times };
}

/** A status of the broker is not one of this resource. */
function asOurs(error: unknown): never {
  const ended = error instanceof PurgeFailedError ? error : undefined;
  const cause = ended?.cause ?? error;
  if (!(cause instanceof BrokerRefusedError)) throw error;
  const ours = refused('brokerRefused', cause.message);
  throw ended === undefined ? ours : new PurgeFailedError(ours, ended.record, ended.hasBegun);
}

/** Who asks for a run. @throws RequestRefusedError for headers that name other data than the policy */
function callerOf(request: FastifyRequest, options: RequesterOptions): RetentionCaller {
  const requester = requesterOf(request, options);
  const given = DATA_HEADERS.find((name) => requester.headers[name] !== undefined);
  if (given !== undefined)
    throw refused(
      'invalidRequest',
      `The policy names its tenant and its @context: leave the header ${given} out.`,
    );
  return requester;
}
