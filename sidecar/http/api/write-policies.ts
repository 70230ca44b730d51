import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Page, WritePolicy } from '../../store/index.js';
import type { WriteChecks, WritePolicyService } from '../../write-checks/index.js';
import {
  created,
  okWithoutETag,
  NO_CONTENT,
  ok,
  page,
  formatTime,
  expectedStateOf,
  preconditionsOfExisting,
} from './answer.js';
import { refuseHeaders } from '../new-purge.js';
import { type Api, apiUrl } from './routes.js';
import { requirePolicyTenant, visiblePolicies } from './tenants.js';
import { empty, json, list, NAME, PAGE, Query, requireName } from './schemas.js';
import {
  NEW_WRITE_POLICY,
  WRITE_CHECKS,
  WRITE_POLICY,
  WRITE_POLICY_SETTINGS,
  writePolicyJson,
  writePolicySettings,
} from './write-policy-representation.js';

export interface WritePolicyResourceOptions {
  readonly writePolicies: WritePolicyService;
  readonly writeChecks: Pick<WriteChecks, 'counts' | 'startedAt'>;
}

const tag = 'Checked writes';
const POLICIES = '/write-policies';
const POLICY_PATH = `${POLICIES}/:writePolicy`;
const PARAMS = Type.Object({ writePolicy: { ...NAME, description: 'Name of a write policy.' } });
const MAX_BODY_BYTES = 256 * 1024;

/** A policy without a tenant is for all of them, so one that is only in a header must not be ignored. */
const TENANT_HEADERS = ['ngsild-tenant', 'fiware-service'];

/** The routes of write policies, and of the findings of write checks. */
export function writePolicyRoutes(api: Api, options: WritePolicyResourceOptions): void {
  const { writePolicies, writeChecks } = options;
  api.get(POLICIES, {
    schema: {
      tags: [tag],
      operationId: 'listWritePolicies',
      summary: 'List write policies',
      querystring: Query(PAGE),
      response: { 200: list('Policies by name.', WRITE_POLICY) },
    },
    handler: async (request) => {
      const { query, baseUrl } = request;
      const list = (some: Page) => writePolicies.list(some);
      const { items, total } = await visiblePolicies(request, query, list, tenantOfPolicy);
      const shown = items.map((policy) => writePolicyJson(policy));
      return page(shown, total, query, apiUrl(baseUrl, 'write-policies'));
    },
  });

  api.post(POLICIES, {
    schema: {
      tags: [tag],
      operationId: 'createWritePolicy',
      summary: 'Create a write policy',
      description:
        'It applies at once in the gateway that answers, and within two seconds in others on the same database.',
      body: NEW_WRITE_POLICY,
      response: { 201: json('The new policy.', WRITE_POLICY) },
    },
    bodyLimit: MAX_BODY_BYTES,
    handler: async (request) => {
      const { name, ...settings } = request.body;
      refuseHeaders(request, TENANT_HEADERS, 'The policy names its tenant (tenant)');
      requirePolicyTenant(request, settings.tenant, 'writePolicy');
      const { policy, warnings } = await writePolicies.put(
        name,
        writePolicySettings(settings),
        request.caller.name,
        'new',
      );
      const url = apiUrl(request.baseUrl, 'write-policies', name);
      return created(url, writePolicyJson(policy, warnings), policy.etag);
    },
  });

  api.get(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'getWritePolicy',
      summary: 'Read a write policy',
      params: PARAMS,
      response: { 200: json('The policy.', WRITE_POLICY) },
    },
    handler: async ({ params }) => {
      const policy = await writePolicies.get(params.writePolicy);
      return ok(writePolicyJson(policy), policy.etag);
    },
  });

  api.put(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'putWritePolicy',
      summary: 'Create a write policy, or replace one',
      description: 'Members that are left out get their defaults.',
      params: PARAMS,
      body: WRITE_POLICY_SETTINGS,
      response: { 200: json('Replaced.', WRITE_POLICY), 201: json('Created.', WRITE_POLICY) },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isConditional: true },
    handler: async (request) => {
      const { params, body, conditions, baseUrl } = request;
      const { name, ...settings } = body;
      requireName('write policy', params.writePolicy, name);
      refuseHeaders(request, TENANT_HEADERS, 'The policy names its tenant (tenant)');
      requirePolicyTenant(request, settings.tenant, 'writePolicy');
      const { policy, isNew, warnings } = await writePolicies.put(
        params.writePolicy,
        writePolicySettings(settings),
        request.caller.name,
        expectedStateOf(conditions),
      );
      const written = writePolicyJson(policy, warnings);
      const url = apiUrl(baseUrl, 'write-policies', policy.name);
      return isNew ? created(url, written, policy.etag) : ok(written, policy.etag);
    },
  });

  api.delete(POLICY_PATH, {
    schema: {
      tags: [tag],
      operationId: 'deleteWritePolicy',
      summary: 'Delete a write policy',
      params: PARAMS,
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () =>
        writePolicies.get(params.writePolicy),
      );
      await writePolicies.delete(params.writePolicy, ifMatch);
      return NO_CONTENT;
    },
  });

  api.get('/write-checks', {
    schema: {
      tags: [tag],
      operationId: 'getWriteChecks',
      summary: 'Read what the checks of writes have found',
      description: 'Since the gateway that answers was started; each gateway counts separately.',
      querystring: Query({
        policy: Type.Optional({ ...NAME, description: 'Only what this policy has decided about.' }),
      }),
      response: { 200: json('Counts and findings, the most frequent ones first.', WRITE_CHECKS) },
    },
    config: { isVolatile: true },
    handler: async (request) => {
      const { findings, ...counts } = writeChecks.counts(await countedPolicies(request, writePolicies));
      const shown = findings.map(({ model, ...rest }) => {
        const [domain = '', name = ''] = model.split('/');
        return { domain, model: name, ...rest };
      });
      return okWithoutETag({ since: formatTime(writeChecks.startedAt), ...counts, findings: shown });
    },
  });
}

/**
 * Returns the policies whose counts are requested; undefined for all. The counts of a policy for all tenants reveal
 * what was written in any of them, so callers who may see only some tenants do not get them.
 *
 * @throws NotFoundError, TenantRefusedError
 */
async function countedPolicies(
  request: FastifyRequest<{ Querystring: { readonly policy?: string } }>,
  policies: WritePolicyService,
): Promise<readonly { readonly name: string; readonly tenant?: string | undefined }[] | undefined> {
  const { query, caller } = request;
  if (query.policy !== undefined) {
    const { settings } = await policies.get(query.policy);
    requirePolicyTenant(request, settings.tenant, 'writePolicy');
    return [{ name: query.policy, tenant: settings.tenant }];
  }
  if (caller.tenants === undefined) return undefined;
  const list = (some: Page) => policies.list(some);
  const { items } = await visiblePolicies(request, { limit: Infinity, offset: 0 }, list, tenantOfPolicy);
  return items.flatMap((policy) => {
    const tenant = tenantOfPolicy(policy);
    return tenant === undefined ? [] : [{ name: policy.name, tenant }];
  });
}

function tenantOfPolicy({ settings }: WritePolicy): string | undefined {
  return settings.tenant;
}
