import { Type } from 'typebox';
import {
  type ChangedFollower,
  type ContextSummary,
  contextUrl,
  type SchemaService,
  type WrittenContext,
} from '../../schemas/models/index.js';
import { changeOf } from '../../schemas/repository/refusals.js';
import { disconnectSignal } from '../client-disconnect.js';
import {
  type Answer,
  created,
  okWithContentETag,
  document,
  NO_CONTENT,
  ok,
  page,
  formatTime,
  withLifecycle,
  preconditionsOfExisting,
} from './answer.js';
import { dependentJson, UPDATED_DEPENDENTS } from './transfer.js';
import {
  AnyJson,
  Closed,
  content,
  empty,
  Flag,
  json,
  list,
  NAME,
  PAGE,
  Query,
  TEXT,
  TIME,
  URL_TEXT,
  VERSION,
  VERSION_NUMBER,
  type WrittenOf,
} from './schemas.js';
import { type Api, apiUrl } from './routes.js';

const tag = 'Contexts';
const PARAMS = Type.Object({
  context: Type.String({ description: 'Name of a context; of a generated one `{domain}~{model}`.' }),
});

/** The routes of JSON-LD contexts: custom contexts, those generated from models, and the core contexts of NGSI-LD. */
export function contextRoutes(api: Api, service: SchemaService): void {
  const { contexts } = service;
  api.get('/contexts', {
    schema: {
      tags: [tag],
      operationId: 'listContexts',
      summary: 'List contexts',
      querystring: Query(PAGE),
      response: { 200: list('Core contexts, then the others by name.', CONTEXT) },
    },
    handler: async ({ query, baseUrl }) => {
      const { items, total } = await contexts.list(query);
      const shown = items.map((context) => contextJson(context, baseUrl));
      return page(shown, total, query, apiUrl(baseUrl, 'contexts'));
    },
  });

  api.post('/contexts', {
    schema: {
      tags: [tag],
      operationId: 'createContext',
      summary: 'Create a custom context',
      querystring: Query({ dryRun: DRY_RUN }),
      body: NEW_CONTEXT,
      response: {
        200: json('What a dry run found.', CONTEXT_DRY_RUN),
        201: json('The new context.', WRITTEN_CONTEXT),
      },
    },
    handler: async ({ query: { dryRun }, body, baseUrl }) => {
      const on = dryRun ? service.forDryRun().contexts : contexts;
      const written = await on.create(body.name, body['@context'], { baseUrl });
      if (dryRun) return okWithContentETag(contextDryRunJson('created', written));
      const { name, etag } = written.context;
      return created(contextUrl(baseUrl, name), writtenContextJson(written, baseUrl), etag);
    },
  });

  api.get('/contexts/:context', {
    schema: {
      tags: [tag],
      operationId: 'getContext',
      summary: 'A context as clients and brokers use it',
      params: PARAMS,
      querystring: Query(VERSION),
      response: {
        200: content('The JSON-LD context.', {
          'application/ld+json': LD_CONTEXT,
        }),
      },
    },
    config: { isCrossOrigin: true },
    handler: async ({ params, query: { version }, baseUrl }) => {
      const found = await contexts.document(params.context, version, baseUrl);
      const { warningCount = 0, lifecycle } = found;
      const answer = withWarnings(document(found), warningCount, baseUrl, params.context);
      return withLifecycle(answer, lifecycle);
    },
  });

  api.put('/contexts/:context', {
    schema: {
      tags: [tag],
      operationId: 'updateContext',
      summary: 'Make a new version of a custom context',
      description:
        'It applies to the contexts and models that follow this one at ' +
        'once. Refused if one of them could no longer be processed.',
      params: PARAMS,
      querystring: Query({ dryRun: DRY_RUN }),
      body: CONTEXT_CHANGE,
      response: {
        200: json('The context as it is now; or what a dry run found.', {
          oneOf: [WRITTEN_CONTEXT, CONTEXT_DRY_RUN],
        }),
      },
    },
    config: { isConditional: true },
    handler: async ({ params, query: { dryRun }, body, conditions, baseUrl }, reply) => {
      const options = await preconditionsOfExisting(conditions, () => contexts.document(params.context));
      const written = await contexts.update(params.context, body['@context'], {
        ...options,
        baseUrl,
        dryRun,
        looksAtFollowers: true,
        signal: disconnectSignal(reply.raw),
      });
      const { etag } = written.context;
      return dryRun
        ? ok(contextDryRunJson(written.isNewVersion ? 'updated' : 'unchanged', written), etag)
        : ok(writtenContextJson(written, baseUrl), etag);
    },
  });

  api.delete('/contexts/:context', {
    schema: {
      tags: [tag],
      operationId: 'deleteContext',
      summary: 'Delete a custom context',
      description: 'Refused while another context or a model uses it.',
      params: PARAMS,
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () => contexts.document(params.context));
      await contexts.delete(params.context, ifMatch);
      return NO_CONTENT;
    },
  });
}

const DRY_RUN = Flag(
  'Report what would happen to the context and to the models that follow it, and write nothing.',
);

/** The document at the URL of a context. */
export const LD_CONTEXT = Type.Object({ '@context': Type.Unknown({ description: 'A JSON-LD context.' }) });

const CONTEXT_VALUE = AnyJson(
  'A map of terms, an array of maps and URLs, a URL, or an object that holds one as `@context`.',
);

const NEW_CONTEXT = Closed('NewContext', { name: NAME, '@context': CONTEXT_VALUE });

const CONTEXT_CHANGE = Closed('ContextChange', { '@context': CONTEXT_VALUE });

const CURRENT_VERSION = {
  ...VERSION_NUMBER,
  description: 'Number of the current version; that of a domain has none.',
};

const CONTEXT_MEMBERS = {
  name: TEXT,
  kind: Type.Enum(['custom', 'generated', 'core'], {
    description:
      '`generated` from a model, or from the models of a domain; `core`: bundled with the gateway.',
  }),
  version: Type.Optional(CURRENT_VERSION),
  url: { ...URL_TEXT, description: 'The URL by which clients and brokers refer to it.' },
  canonicalUrl: Type.Optional({ ...URL_TEXT, description: 'Of a core context: where it is published.' }),
  createdAt: Type.Optional(TIME),
  modifiedAt: Type.Optional(TIME),
};

const CONTEXT = Closed('Context', CONTEXT_MEMBERS);

const WARNINGS = Type.Array(Closed('ContextWarning', { code: TEXT, pointer: TEXT, detail: TEXT }));

const WRITTEN_CONTEXT = Closed('WrittenContext', {
  ...CONTEXT_MEMBERS,
  version: CURRENT_VERSION,
  warnings: WARNINGS,
  dependents: UPDATED_DEPENDENTS,
});

const CONTEXT_DRY_RUN = Closed('ContextDryRun', {
  dryRun: Type.Literal(true),
  status: Type.Enum(['created', 'updated', 'unchanged']),
  warnings: WARNINGS,
  dependents: UPDATED_DEPENDENTS,
});

/** Adds a link to the warnings of a domain's context, if there are any (RFC 8288). */
export function withWarnings(answer: Answer, count: number, baseUrl: string, domain: string): Answer {
  if (count === 0) return answer;
  const url = apiUrl(baseUrl, 'domains', domain, 'context', 'warnings');
  return { ...answer, headers: { ...answer.headers, link: `<${url}>; rel="describedby"` } };
}

function contextJson(context: ContextSummary, baseUrl: string): WrittenOf<typeof CONTEXT> {
  const { name, kind, currentVersion: version } = context;
  const common = {
    name,
    kind: kind === 'domain' ? ('generated' as const) : kind,
    version,
    url: contextUrl(baseUrl, name),
  };
  return kind === 'core'
    ? { ...common, canonicalUrl: context.canonicalUrl }
    : { ...common, createdAt: formatTime(context.createdAt), modifiedAt: formatTime(context.modifiedAt) };
}

function writtenContextJson(
  { context, warnings, followers }: WrittenContext,
  baseUrl: string,
): WrittenOf<typeof WRITTEN_CONTEXT> {
  const dependents = followers.map(followerJson);
  return { ...contextJson(context, baseUrl), version: context.currentVersion, warnings, dependents };
}

function contextDryRunJson(
  status: WrittenOf<typeof CONTEXT_DRY_RUN>['status'],
  { warnings, followers }: Pick<WrittenContext, 'warnings' | 'followers'>,
): WrittenOf<typeof CONTEXT_DRY_RUN> {
  return { dryRun: true, status, warnings, dependents: followers.map(followerJson) };
}

/** A follower keeps its version, although its meaning has changed. */
function followerJson({ domain, model, change }: ChangedFollower) {
  return dependentJson({ domain, model, status: 'unchanged', ...changeOf(change) });
}
