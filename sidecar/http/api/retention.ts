import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { PurgeFailedError } from '../../jobs/errors.js';
import { PLACE_HEADERS } from '../../jobs/job-headers.js';
import type { NewJob } from '../../jobs/purge-kinds.js';
import type {
  ListedPolicy,
  RetentionPreview,
  RetentionService,
} from '../../jobs/retention/retention-service.js';
import { BrokerRefusedError } from '../../purge/index.js';
import { NotFoundError, type Page, type RetentionPolicy } from '../../store/index.js';
import { disconnectSignal } from '../client-disconnect.js';
import { refused } from '../refused.js';
import { readJobOrigin, refuseHeaders } from '../new-purge.js';
import {
  accepted,
  created,
  okWithoutETag,
  expectedStateOf,
  withPurgeId,
  NO_CONTENT,
  ok,
  page,
  preconditionsOfExisting,
} from './answer.js';
import { PURGE } from './purge-schemas.js';
import { empty, json, list, NAME, PAGE, Query, requireName } from './schemas.js';
import {
  LISTED_POLICY,
  listedPolicyJson,
  NEW_POLICY,
  POLICY,
  POLICY_SETTINGS,
  policyJson,
  PREVIEW,
  settingsOf,
} from './retention-representation.js';
import { type Api, apiUrl } from './routes.js';
import { isListed, listedTenants, requirePolicyTenant, visiblePolicies } from './tenants.js';

export interface RetentionResourceOptions {
  readonly retention: RetentionService;
}

const tag = 'Retention policies';
const POLICIES = '/retention-policies';
const POLICY_PATH = `${POLICIES}/:retentionPolicy`;
const PARAMS = Type.Object({ retentionPolicy: { ...NAME, description: 'Name of a retention policy.' } });

const MAX_BODY_BYTES = 64 * 1024;

/** The routes to manage, preview and run retention policies, and to list their runs. */
export function retentionRoutes(api: Api, options: RetentionResourceOptions): void {
  const { retention } = options;
  api.get(POLICIES, {
    schema: {
      tags: [tag],
      operationId: 'listRetentionPolicies',
      summary: 'List retention policies',
      querystring: Query(PAGE),
      response: { 200: list('Policies by name, each with its last run.', LISTED_POLICY) },
    },
    handler: async (request) => {
      const { query, baseUrl } = request;
      const list = (some: Page) => retention.list(some);
      const { items, total } = await visiblePolicies(request, query, list, ({ policy }) =>
        tenantOfPolicy(policy),
      );
      // A policy of the same name may have belonged to another tenant earlier.
      const shown = ({ policy, lastRun }: ListedPolicy) =>
        listedPolicyJson({ policy, lastRun: lastRun && isListed(request, lastRun) ? lastRun : undefined });
      return page(items.map(shown), total, query, apiUrl(baseUrl, 'retention-policies'));
    },
  });

  api.post(POLICIES, {
    schema: {
      tags: [tag],
      operationId: 'createRetentionPolicy',
      summary: 'Create a retention policy',
      description: 'It reports what it would delete, unless its mode is `enforce`.',
      body: NEW_POLICY,
      response: { 201: json('The new policy.', POLICY) },
    },
    bodyLimit: MAX_BODY_BYTES,
    handler: async (request) => {
      const { body, baseUrl } = request;
      const { name, ...settings } = body;
      requirePolicyTenant(request, settings.tenant ?? '', 'retentionPolicy');
      const { policy } = await retention.put(name, settingsOf(settings), callerOf(request), 'new');
      return created(policyUrl(baseUrl, policy), policyJson(policy), policy.etag);
    },
  });

  api.get(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'getRetentionPolicy',
      summary: 'Read a retention policy',
      params: PARAMS,
      response: { 200: json('The policy.', POLICY) },
    },
    handler: async ({ params }) => {
      const policy = await retention.get(params.retentionPolicy);
      return ok(policyJson(policy), policy.etag);
    },
  });

  api.put(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'putRetentionPolicy',
      summary: 'Create a retention policy, or replace one',
      description: 'Members that are left out get their defaults.',
      params: PARAMS,
      body: POLICY_SETTINGS,
      response: {
        200: json('Replaced.', POLICY),
        201: json('Created.', POLICY),
      },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isConditional: true },
    handler: async (request) => {
      const { params, body, conditions, baseUrl } = request;
      const { name, ...settings } = body;
      requireName('retention policy', params.retentionPolicy, name);
      requirePolicyTenant(request, settings.tenant ?? '', 'retentionPolicy');
      const author = callerOf(request);
      const expected = expectedStateOf(conditions);
      const { policy, isNew } = await retention.put(
        params.retentionPolicy,
        settingsOf(settings),
        author,
        expected,
      );
      const written = policyJson(policy);
      return isNew ? created(policyUrl(baseUrl, policy), written, policy.etag) : ok(written, policy.etag);
    },
  });

  api.delete(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'deleteRetentionPolicy',
      summary: 'Delete a retention policy',
      description: 'A run in progress continues, and the records of its runs are kept.',
      params: PARAMS,
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () =>
        retention.get(params.retentionPolicy),
      );
      await retention.delete(params.retentionPolicy, ifMatch);
      return NO_CONTENT;
    },
  });

  api.get(`${POLICY_PATH}/preview`, {
    schema: {
      tags: [tag],
      operationId: 'previewRetentionPolicy',
      summary: 'Count what a retention policy matches now',
      params: PARAMS,
      response: { 200: json('The matches.', PREVIEW) },
    },
    config: { isVolatile: true, namesPurge: true },
    handler: async (request, reply) => {
      const signal = disconnectSignal(reply.raw);
      const { retentionPolicy } = request.params;
      const preview = retention.preview(retentionPolicy, callerOf(request), signal);
      return previewed(await preview.catch(asOurs));
    },
  });

  api.post(`${POLICIES}/preview`, {
    schema: {
      tags: [tag],
      operationId: 'previewRetentionSettings',
      summary: 'Count what a retention policy would match, and save nothing',
      description: 'With the name of a policy, its earlier runs determine how many matches maxGrowth allows.',
      body: POLICY_SETTINGS,
      response: { 200: json('The matches.', PREVIEW) },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isVolatile: true, isForDryRuns: true, namesPurge: true },
    handler: async (request, reply) => {
      const signal = disconnectSignal(reply.raw);
      const { name, ...settings } = request.body;
      const caller = callerOf(request);
      requirePolicyTenant(request, settings.tenant ?? '', 'retentionPolicy');
      if (name !== undefined) await requireOwnPolicy(request, name, retention);
      const preview = retention.previewSettings(name, settingsOf(settings), caller, signal);
      return previewed(await preview.catch(asOurs));
    },
  });

  api.post(`${POLICY_PATH}/run`, {
    schema: {
      tags: [tag],
      operationId: 'runRetentionPolicy',
      summary: 'Run a retention policy now',
      description:
        'In its own mode, and also when it is disabled. With `If-Match`, only if it has not changed since it was read.',
      params: PARAMS,
      response: { 202: json('The record of the run.', PURGE) },
    },
    config: { isVolatile: true, isForDryRuns: true, isConditional: true, namesPurge: true },
    handler: async (request) => {
      const { params, conditions, baseUrl } = request;
      const { ifMatch } = await preconditionsOfExisting(conditions, () =>
        retention.get(params.retentionPolicy),
      );
      const record = await retention.run(params.retentionPolicy, callerOf(request), ifMatch);
      return withPurgeId(accepted(apiUrl(baseUrl, 'purges', record.id), record), record.id);
    },
  });

  api.get(`${POLICY_PATH}/runs`, {
    schema: {
      tags: [tag],
      operationId: 'listRetentionRuns',
      summary: 'List the runs of a retention policy, the newest first',
      params: PARAMS,
      querystring: Query(PAGE),
      response: { 200: list('Their records.', PURGE) },
    },
    handler: async (request) => {
      const { params, query, baseUrl } = request;
      const { items, total } = await retention.runs(params.retentionPolicy, {
        ...query,
        ...listedTenants(request),
      });
      const url = apiUrl(baseUrl, 'retention-policies', params.retentionPolicy, 'runs');
      return page(items, total, query, url);
    },
  });
}

function previewed({ id, cutoff, query, report, reportAbove }: RetentionPreview) {
  const { matched, sample, unit, isLowerBound } = report;
  const counts = { matched, sample, cutoff, query, unit, reportAbove, atLeast: isLowerBound };
  return withPurgeId(okWithoutETag(counts), id);
}

/**
 * Refuses the name of another tenant's policy, because the number of its matches would reveal something about that
 * tenant.
 *
 * @throws TenantRefusedError
 */
async function requireOwnPolicy(
  request: FastifyRequest,
  name: string,
  retention: RetentionService,
): Promise<void> {
  if (request.caller.tenants === undefined) return;
  const policy = await retention.get(name).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
  });
  if (policy !== undefined) requirePolicyTenant(request, tenantOfPolicy(policy), 'retentionPolicy');
}

function tenantOfPolicy({ settings: { tenant = '' } }: RetentionPolicy): string {
  return tenant;
}

function policyUrl(baseUrl: string, { name }: RetentionPolicy): string {
  return apiUrl(baseUrl, 'retention-policies', name);
}

/** Replaces a refusal by the broker: its status does not apply to this resource. */
function asOurs(error: unknown): never {
  const ended = error instanceof PurgeFailedError ? error : undefined;
  const cause = ended?.cause ?? error;
  if (!(cause instanceof BrokerRefusedError)) throw error;
  const ours = refused('brokerRefused', cause.message);
  throw ended === undefined ? ours : new PurgeFailedError(ours, ended.record, ended.hasBegun);
}

/** Returns the author or the caller of a run. @throws RequestRefusedError for headers that select other data than the policy */
function callerOf(request: FastifyRequest): NewJob {
  refuseHeaders(request, PLACE_HEADERS, 'The policy names its tenant and its @context (tenant, link)');
  return readJobOrigin(request);
}
