import {
  type ChangedFollower,
  type ContextSummary,
  contextUrl,
  type SchemaService,
  type WrittenContext,
} from '../../schemas/models/index.js';
import { changeOf } from '../../schemas/repository/refusals.js';
import { type Answer, created, derived, document, NO_CONTENT, ok, page } from './answer.js';
import { writeOptions } from './conditions.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { withLifecycle } from './lifecycle.js';
import { NAME, PAGE, parameters, VERSION } from './parameters.js';
import { apiUrl } from './routes.js';
import { TEXT, TIME, timeText, URL_TEXT, VERSION_NUMBER, type TypeOf } from './schema-types.js';
import { dependentJson, UPDATED_DEPENDENTS } from './transfer-representation.js';

const tag = 'Contexts';

/** JSON-LD contexts: custom ones, those generated from models, and the core contexts of NGSI-LD. */
export function contextEndpoints({ contexts }: SchemaService): readonly Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/contexts',
      id: 'listContexts',
      tag,
      summary: 'List contexts',
      query: parameters(PAGE),
      answers: {
        200: {
          description: 'Core contexts, then the others by name.',
          content: { 'application/json': { type: 'array', items: CONTEXT } },
          isPage: true,
        },
      },
      handle: async ({ query, baseUrl }) => {
        const { items, total } = await contexts.list(query);
        const list = items.map((context) => contextJson(context, baseUrl));
        return page(list, total, query, apiUrl(baseUrl, 'contexts'));
      },
    }),
    endpoint({
      method: 'POST',
      path: '/contexts',
      id: 'createContext',
      tag,
      summary: 'Create a custom context',
      query: parameters({ dryRun: DRY_RUN }),
      body: NEW_CONTEXT,
      answers: {
        200: { description: 'What a dry run found.', content: { 'application/json': CONTEXT_DRY_RUN } },
        201: { description: 'The new context.', content: { 'application/json': WRITTEN_CONTEXT } },
      },
      problems: ['alreadyExists', 'contextInvalid', 'dependencyChanged'],
      handle: async ({ query: { dryRun }, body, baseUrl }) => {
        if (dryRun) {
          const { warnings } = await contexts.dryCreate(body.name, body['@context'], { baseUrl });
          return derived(contextDryRunJson('created', { warnings, followers: [] }));
        }
        const written = await contexts.create(body.name, body['@context'], { baseUrl });
        const { name, etag } = written.context;
        return created(contextUrl(baseUrl, name), writtenContextJson(written, baseUrl), etag);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/contexts/:context',
      id: 'getContext',
      tag,
      summary: 'A context as clients and brokers use it',
      query: parameters(VERSION),
      answers: {
        200: {
          description: 'The JSON-LD context.',
          content: {
            'application/ld+json': LD_CONTEXT,
          },
        },
      },
      isCrossOrigin: true,
      problems: ['busy'],
      handle: async ({ params, query: { version }, baseUrl }) => {
        const found = await contexts.document(params.context, version, baseUrl);
        const { warningCount = 0, lifecycle } = found;
        const answer = withWarnings(document(found, version), warningCount, baseUrl, params.context);
        return withLifecycle(answer, lifecycle);
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/contexts/:context',
      id: 'updateContext',
      tag,
      summary: 'Make a new version of a custom context',
      description:
        'It reaches the contexts and models that follow this one at once. Refused where one of them could not be processed any more.',
      query: parameters({ dryRun: DRY_RUN }),
      body: CONTEXT_CHANGE,
      answers: {
        200: {
          description: 'The context as it is now; or what a dry run found.',
          content: { 'application/json': { oneOf: [WRITTEN_CONTEXT, CONTEXT_DRY_RUN] } },
        },
      },
      problems: ['readOnly', 'contextInvalid', 'inUse', 'dependencyChanged'],
      isConditional: true,
      handle: async ({ params, query: { dryRun }, body, conditions, baseUrl, disconnected }) => {
        const options = await writeOptions(conditions, () => contexts.document(params.context));
        const written = await contexts.update(params.context, body['@context'], {
          ...options,
          ...{ baseUrl, dryRun, looksAtFollowers: true, signal: disconnected() },
        });
        const { etag } = written.context;
        return dryRun
          ? ok(contextDryRunJson(written.isNewVersion ? 'updated' : 'unchanged', written), etag)
          : ok(writtenContextJson(written, baseUrl), etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/contexts/:context',
      id: 'deleteContext',
      tag,
      summary: 'Delete a custom context',
      description: 'Refused while another context or a model uses it.',
      answers: { 204: { description: 'Deleted.' } },
      problems: ['readOnly', 'inUse'],
      isConditional: true,
      handle: async ({ params, conditions }) => {
        const { ifMatch } = await writeOptions(conditions, () => contexts.document(params.context));
        await contexts.delete(params.context, ifMatch);
        return NO_CONTENT;
      },
    }),
  ];
}

const DRY_RUN = {
  type: 'boolean',
  default: false,
  description: 'Say what would become of the context and of the models that follow it, and write nothing.',
} as const;

/** What a context's URL answers. */
export const LD_CONTEXT = {
  type: 'object',
  properties: { '@context': { description: 'A JSON-LD context.' } },
  required: ['@context'],
} as const;

const CONTEXT_VALUE = {
  description: 'A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`.',
} as const;

const NEW_CONTEXT = {
  title: 'NewContext',
  type: 'object',
  properties: { name: NAME, '@context': CONTEXT_VALUE },
  required: ['name', '@context'],
  additionalProperties: false,
} as const;

const CONTEXT_CHANGE = {
  title: 'ContextChange',
  type: 'object',
  properties: { '@context': CONTEXT_VALUE },
  required: ['@context'],
  additionalProperties: false,
} as const;

const CONTEXT_MEMBERS = {
  name: TEXT,
  kind: {
    enum: ['custom', 'generated', 'core'],
    description: '`generated` from a model, or from the models of a domain; `core`: comes with this product.',
  },
  version: { ...VERSION_NUMBER, description: 'Number of the current version; that of a domain has none.' },
  url: { ...URL_TEXT, description: 'By which clients and brokers name it.' },
  canonicalUrl: { ...URL_TEXT, description: 'Of a core context: where it is published.' },
  createdAt: TIME,
  modifiedAt: TIME,
} as const;

const CONTEXT = {
  title: 'Context',
  type: 'object',
  properties: CONTEXT_MEMBERS,
  required: ['name', 'kind', 'url'],
  additionalProperties: false,
} as const;

const WARNINGS = {
  type: 'array',
  items: {
    title: 'ContextWarning',
    type: 'object',
    properties: { code: TEXT, pointer: TEXT, detail: TEXT },
    required: ['code', 'pointer', 'detail'],
    additionalProperties: false,
  },
} as const;

const WRITTEN_CONTEXT = {
  title: 'WrittenContext',
  type: 'object',
  properties: { ...CONTEXT_MEMBERS, warnings: WARNINGS, dependents: UPDATED_DEPENDENTS },
  required: ['name', 'kind', 'version', 'url', 'warnings', 'dependents'],
  additionalProperties: false,
} as const;

const CONTEXT_DRY_RUN = {
  title: 'ContextDryRun',
  type: 'object',
  properties: {
    dryRun: { const: true },
    status: { enum: ['created', 'updated', 'unchanged'] },
    warnings: WARNINGS,
    dependents: UPDATED_DEPENDENTS,
  },
  required: ['dryRun', 'status', 'warnings', 'dependents'],
  additionalProperties: false,
} as const;

/** Says where the warnings of a domain's context are, where it has some (RFC 8288). */
export function withWarnings(answer: Answer, count: number, baseUrl: string, domain: string): Answer {
  if (count === 0) return answer;
  const url = apiUrl(baseUrl, 'domains', domain, 'context', 'warnings');
  return { ...answer, headers: { ...answer.headers, link: `<${url}>; rel="describedby"` } };
}

function contextJson(context: ContextSummary, baseUrl: string): TypeOf<typeof CONTEXT> {
  const { name, kind, currentVersion: version } = context;
  const common = {
    ...{ name, kind: kind === 'domain' ? ('generated' as const) : kind },
    ...(version === undefined ? {} : { version }),
    url: contextUrl(baseUrl, name),
  };
  return kind === 'core'
    ? { ...common, canonicalUrl: context.canonicalUrl }
    : { ...common, createdAt: timeText(context.createdAt), modifiedAt: timeText(context.modifiedAt) };
}

function writtenContextJson(
  { context, warnings, followers }: WrittenContext,
  baseUrl: string,
): TypeOf<typeof WRITTEN_CONTEXT> {
  const dependents = followers.map(followerJson);
  return { ...contextJson(context, baseUrl), version: context.currentVersion, warnings, dependents };
}

function contextDryRunJson(
  status: TypeOf<typeof CONTEXT_DRY_RUN>['status'],
  { warnings, followers }: Pick<WrittenContext, 'warnings' | 'followers'>,
): TypeOf<typeof CONTEXT_DRY_RUN> {
  return { dryRun: true, status, warnings, dependents: followers.map(followerJson) };
}

/** It keeps its version, and means something else. */
function followerJson({ domain, model, change }: ChangedFollower) {
  return dependentJson({ domain, model, status: 'unchanged', ...changeOf(change) });
}
