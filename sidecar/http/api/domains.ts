import type { SchemaService } from '../../schemas/models/index.js';
import type { Domain, ListedDomain } from '../../store/records.js';
import { created, document, NO_CONTENT, ok, page } from './answer.js';
import { writeOptions } from './conditions.js';
import { LD_CONTEXT, withWarnings } from './contexts.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { COMPATIBILITY } from './model-representation.js';
import { NAME, PAGE, parameters } from './parameters.js';
import { apiUrl } from './routes.js';
import { COUNT, DESCRIPTION, STRINGS, TEXT, TIME, timeText, type TypeOf } from './schema-types.js';

const tag = 'Domains';
const CASCADE = {
  type: 'boolean',
  default: false,
  description: 'Delete its models with it, with all their versions and contexts.',
} as const;

/** Enough for a name and a description in any spelling of JSON. */
const MAX_DOMAIN_BYTES = 64 * 1024;

/** Domains: the namespaces of models. */
export function domainEndpoints({ store, domains }: SchemaService): readonly Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/domains',
      id: 'listDomains',
      tag,
      summary: 'List domains',
      query: parameters(PAGE),
      answers: {
        200: {
          description: 'Domains by name.',
          content: { 'application/json': { type: 'array', items: LISTED_DOMAIN } },
          isPage: true,
        },
      },
      handle: async ({ query, baseUrl }) => {
        const { items, total } = await store.domains.list(query);
        return page(items.map(listedDomainJson), total, query, apiUrl(baseUrl, 'domains'));
      },
    }),
    endpoint({
      method: 'POST',
      path: '/domains',
      id: 'createDomain',
      tag,
      summary: 'Create a domain',
      body: NEW_DOMAIN,
      bodyMaxBytes: MAX_DOMAIN_BYTES,
      answers: { 201: { description: 'The new domain.', content: { 'application/json': DOMAIN } } },
      problems: ['alreadyExists'],
      handle: async ({ body, baseUrl }) => {
        const domain = await domains.create(body);
        return created(apiUrl(baseUrl, 'domains', domain.name), domainJson(domain), domain.etag);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/domains/:domain',
      id: 'getDomain',
      tag,
      summary: 'Read a domain',
      answers: { 200: { description: 'The domain.', content: { 'application/json': DOMAIN } } },
      handle: async ({ params }) => {
        const domain = await store.domains.get(params.domain);
        return ok(domainJson(domain), domain.etag);
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/domains/:domain',
      id: 'updateDomain',
      tag,
      summary: 'Update a domain',
      description: 'Its compatibility holds at once for its models that have none of their own.',
      body: DOMAIN_CHANGE,
      bodyMaxBytes: MAX_DOMAIN_BYTES,
      answers: { 200: { description: 'The updated domain.', content: { 'application/json': DOMAIN } } },
      problems: ['dependencyChanged'],
      isConditional: true,
      handle: async ({ params, body, conditions }) => {
        const { ifMatch } = await writeOptions(conditions, () => store.domains.get(params.domain));
        const domain = await domains.update(params.domain, body, ifMatch);
        return ok(domainJson(domain), domain.etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/domains/:domain',
      id: 'deleteDomain',
      tag,
      summary: 'Delete a domain',
      description: 'Refused while it holds models, unless cascade=true.',
      query: parameters({ cascade: CASCADE }),
      answers: { 204: { description: 'Deleted.' } },
      problems: ['inUse'],
      isConditional: true,
      handle: async ({ params, query, conditions }) => {
        const { ifMatch } = await writeOptions(conditions, () => store.domains.get(params.domain));
        await store.domains.delete(params.domain, { ifMatch, cascade: query.cascade });
        return NO_CONTENT;
      },
    }),
  ];
}

/** One context for all models of a domain. */
export function domainContextEndpoints({ domainContexts }: SchemaService): readonly Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/domains/:domain/context',
      id: 'getDomainContext',
      tag,
      summary: 'One context for all models of a domain',
      description:
        'A term that models mean differently is left out: the header Link (describedby) then leads to warnings. The same is served as the context of the name of the domain.',
      answers: {
        200: { description: 'With the core context last.', content: { 'application/ld+json': LD_CONTEXT } },
      },
      problems: ['busy'],
      isCrossOrigin: true,
      handle: async ({ params: { domain }, baseUrl }) => {
        const found = await domainContexts.of(domain, baseUrl);
        return withWarnings(document(found, undefined), found.warnings.length, baseUrl, domain);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/domains/:domain/context/warnings',
      id: 'listDomainContextWarnings',
      tag,
      summary: 'What may not be as expected in the context of a domain',
      query: parameters(PAGE),
      answers: {
        200: {
          description: 'Warnings, by term.',
          content: { 'application/json': { type: 'array', items: CONTEXT_WARNING } },
          isPage: true,
        },
      },
      problems: ['busy'],
      handle: async ({ params: { domain }, query, baseUrl }) => {
        const { warnings } = await domainContexts.of(domain, baseUrl);
        const { limit, offset } = query;
        const url = apiUrl(baseUrl, 'domains', domain, 'context', 'warnings');
        return page(warnings.slice(offset, offset + limit), warnings.length, query, url);
      },
    }),
  ];
}

const CONTEXT_WARNING = {
  title: 'DomainContextWarning',
  type: 'object',
  properties: {
    code: { enum: ['ambiguous-term', 'coercion-left-out', 'unused-terms-left-out', 'context-unavailable'] },
    term: TEXT,
    detail: TEXT,
    models: { ...STRINGS, description: 'Names of the models that it is about.' },
  },
  required: ['code', 'detail', 'models'],
  additionalProperties: false,
} as const;

const DOMAIN_COMPATIBILITY = {
  ...COMPATIBILITY,
  description: 'Of models that have none of their own; `none` when left out.',
} as const;

const NEW_DOMAIN = {
  title: 'NewDomain',
  type: 'object',
  properties: { name: NAME, description: DESCRIPTION, compatibility: DOMAIN_COMPATIBILITY },
  required: ['name'],
  additionalProperties: false,
} as const;

const DOMAIN_CHANGE = {
  title: 'DomainChange',
  type: 'object',
  description: 'A member that is left out keeps its value; null removes it.',
  properties: {
    description: { type: ['string', 'null'], maxLength: DESCRIPTION.maxLength },
    compatibility: { ...DOMAIN_COMPATIBILITY, enum: [...DOMAIN_COMPATIBILITY.enum, null] },
  },
  additionalProperties: false,
} as const;

const DOMAIN = {
  title: 'Domain',
  type: 'object',
  properties: {
    name: NAME,
    description: TEXT,
    compatibility: DOMAIN_COMPATIBILITY,
    createdAt: TIME,
    modifiedAt: TIME,
  },
  required: ['name', 'compatibility', 'createdAt', 'modifiedAt'],
  additionalProperties: false,
} as const;

const LISTED_DOMAIN = {
  ...DOMAIN,
  title: 'ListedDomain',
  properties: { ...DOMAIN.properties, models: { ...COUNT, description: 'How many models it holds.' } },
  required: [...DOMAIN.required, 'models'],
} as const;

function listedDomainJson(domain: ListedDomain): TypeOf<typeof LISTED_DOMAIN> {
  return { ...domainJson(domain), models: domain.models };
}

function domainJson(domain: Domain): TypeOf<typeof DOMAIN> {
  const { name, description, compatibility, createdAt, modifiedAt } = domain;
  return {
    name,
    description,
    compatibility,
    createdAt: timeText(createdAt),
    modifiedAt: timeText(modifiedAt),
  };
}
