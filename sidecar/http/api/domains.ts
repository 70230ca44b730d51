import { Type } from 'typebox';
import type { SchemaService } from '../../schemas/models/index.js';
import type { Domain, ListedDomain } from '../../store/index.js';
import { created, document, NO_CONTENT, ok, page, formatTime, preconditionsOfExisting } from './answer.js';
import { LD_CONTEXT, withWarnings } from './contexts.js';
import { COMPATIBILITY } from './model-representation.js';
import {
  Closed,
  content,
  COUNT,
  DESCRIPTION,
  DOMAIN_PATH,
  empty,
  Flag,
  json,
  list,
  NAME,
  OrNull,
  PAGE,
  Query,
  STRINGS,
  TEXT,
  TIME,
  type WrittenOf,
} from './schemas.js';
import { type Api, apiUrl } from './routes.js';

const tag = 'Domains';
const CASCADE = Flag('Delete its models with it, with all their versions and contexts.');

/** Enough for a name and a description, however the JSON is written. */
const MAX_DOMAIN_BYTES = 64 * 1024;

/** The routes of domains, the namespaces of models. */
export function domainRoutes(api: Api, { store, domains }: SchemaService): void {
  api.get('/domains', {
    schema: {
      tags: [tag],
      operationId: 'listDomains',
      summary: 'List domains',
      querystring: Query(PAGE),
      response: { 200: list('Domains by name.', LISTED_DOMAIN) },
    },
    handler: async ({ query, baseUrl }) => {
      const { items, total } = await store.domains.list(query);
      return page(items.map(listedDomainJson), total, query, apiUrl(baseUrl, 'domains'));
    },
  });

  api.post('/domains', {
    schema: {
      tags: [tag],
      operationId: 'createDomain',
      summary: 'Create a domain',
      body: NEW_DOMAIN,
      response: { 201: json('The new domain.', DOMAIN) },
    },
    bodyLimit: MAX_DOMAIN_BYTES,
    handler: async ({ body, baseUrl }) => {
      const domain = await domains.create(body);
      return created(apiUrl(baseUrl, 'domains', domain.name), domainJson(domain), domain.etag);
    },
  });

  api.get('/domains/:domain', {
    schema: {
      tags: [tag],
      operationId: 'getDomain',
      summary: 'Read a domain',
      params: DOMAIN_PATH,
      response: { 200: json('The domain.', DOMAIN) },
    },
    handler: async ({ params }) => {
      const domain = await store.domains.get(params.domain);
      return ok(domainJson(domain), domain.etag);
    },
  });

  api.put('/domains/:domain', {
    schema: {
      tags: [tag],
      operationId: 'updateDomain',
      summary: 'Update a domain',
      description: 'Its compatibility applies at once to its models that have none of their own.',
      params: DOMAIN_PATH,
      body: DOMAIN_CHANGE,
      response: { 200: json('The updated domain.', DOMAIN) },
    },
    bodyLimit: MAX_DOMAIN_BYTES,
    config: { isConditional: true },
    handler: async ({ params, body, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () => store.domains.get(params.domain));
      const domain = await domains.update(params.domain, body, ifMatch);
      return ok(domainJson(domain), domain.etag);
    },
  });

  api.delete('/domains/:domain', {
    schema: {
      tags: [tag],
      operationId: 'deleteDomain',
      summary: 'Delete a domain',
      description: 'Refused while it holds models, unless cascade=true.',
      params: DOMAIN_PATH,
      querystring: Query({ cascade: CASCADE }),
      response: { 204: empty('Deleted.') },
    },
    config: { isConditional: true },
    handler: async ({ params, query, conditions }) => {
      const { ifMatch } = await preconditionsOfExisting(conditions, () => store.domains.get(params.domain));
      await store.domains.delete(params.domain, { ifMatch, cascade: query.cascade });
      return NO_CONTENT;
    },
  });
}

/** The routes of the context that a domain's models share. */
export function domainContextRoutes(api: Api, { domainContexts }: SchemaService): void {
  api.get('/domains/:domain/context', {
    schema: {
      tags: [tag],
      operationId: 'getDomainContext',
      summary: 'One context for all models of a domain',
      description:
        'A term that has different meanings in the models, or a definition that is not plain, is left out: the header ' +
        'Link (describedby) then leads to warnings. The same is served as the context of the name of the domain.',
      params: DOMAIN_PATH,
      response: { 200: content('With the core context last.', { 'application/ld+json': LD_CONTEXT }) },
    },
    config: { isCrossOrigin: true },
    handler: async ({ params: { domain }, baseUrl }) => {
      const found = await domainContexts.of(domain, baseUrl);
      return withWarnings(document(found), found.warnings.length, baseUrl, domain);
    },
  });

  api.get('/domains/:domain/context/warnings', {
    schema: {
      tags: [tag],
      operationId: 'listDomainContextWarnings',
      summary: 'List the warnings about the context of a domain',
      params: DOMAIN_PATH,
      querystring: Query(PAGE),
      response: { 200: list('Warnings, by term.', CONTEXT_WARNING) },
    },
    handler: async ({ params: { domain }, query, baseUrl }) => {
      const { warnings } = await domainContexts.of(domain, baseUrl);
      const { limit, offset } = query;
      const url = apiUrl(baseUrl, 'domains', domain, 'context', 'warnings');
      return page(warnings.slice(offset, offset + limit), warnings.length, query, url);
    },
  });
}

const CONTEXT_WARNING = Closed('DomainContextWarning', {
  code: Type.Enum(['ambiguous-term', 'coercion-left-out', 'unused-terms-left-out', 'context-unavailable']),
  term: Type.Optional(TEXT),
  detail: TEXT,
  models: { ...STRINGS, description: 'Names of the models that it is about.' },
});

const DOMAIN_COMPATIBILITY = {
  ...COMPATIBILITY,
  description: 'Of models that have none of their own; `none` when left out.',
};

const NEW_DOMAIN = Closed('NewDomain', {
  name: NAME,
  description: Type.Optional(DESCRIPTION),
  compatibility: Type.Optional(DOMAIN_COMPATIBILITY),
});

const DOMAIN_CHANGE = Closed(
  'DomainChange',
  {
    description: Type.Optional(OrNull(DESCRIPTION)),
    compatibility: Type.Optional(OrNull(DOMAIN_COMPATIBILITY)),
  },
  'A member that is left out keeps its value; null removes it.',
);

const DOMAIN = Closed('Domain', {
  name: NAME,
  description: Type.Optional(TEXT),
  compatibility: DOMAIN_COMPATIBILITY,
  createdAt: TIME,
  modifiedAt: TIME,
});

const LISTED_DOMAIN = Closed('ListedDomain', {
  ...DOMAIN.properties,
  models: { ...COUNT, description: 'How many models it holds.' },
});

function listedDomainJson(domain: ListedDomain): WrittenOf<typeof LISTED_DOMAIN> {
  return { ...domainJson(domain), models: domain.models };
}

function domainJson(domain: Domain): WrittenOf<typeof DOMAIN> {
  const { name, description, compatibility, createdAt, modifiedAt } = domain;
  return {
    name,
    description,
    compatibility,
    createdAt: formatTime(createdAt),
    modifiedAt: formatTime(modifiedAt),
  };
}
