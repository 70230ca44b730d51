import type { DomainService } from '../../schemas/service/service.js';
import { created, NO_CONTENT, ok, page } from './answer.js';
import { NEW_DOMAIN } from './bodies.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { PAGE, parameters } from './parameters.js';
import { domainJson } from './represent.js';
import { DOMAIN } from './resources.js';
import { apiUrl } from './urls.js';
import { writeOptions } from './write-options.js';

const tag = 'Domains';
const CASCADE = {
  type: 'boolean',
  default: false,
  description: 'Delete its models with it, with all their versions and contexts.',
} as const;

/** A name and a description, however they are written. */
const DOMAIN_MAX_BYTES = 64 * 1024;

/** Domains: the rooms in which models have their names. */
export function domainEndpoints(domains: DomainService): readonly Endpoint[] {
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
          content: { 'application/json': { type: 'array', items: DOMAIN } },
          isPage: true,
        },
      },
      handle: async ({ query, baseUrl }) => {
        const { items, total } = await domains.list(query);
        return page(items.map(domainJson), total, query, apiUrl(baseUrl, 'domains'));
      },
    }),
    endpoint({
      method: 'POST',
      path: '/domains',
      id: 'createDomain',
      tag,
      summary: 'Create a domain',
      body: NEW_DOMAIN,
      bodyMaxBytes: DOMAIN_MAX_BYTES,
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
        const domain = await domains.get(params.domain);
        return ok(domainJson(domain), domain.etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/domains/:domain',
      id: 'deleteDomain',
      tag,
      summary: 'Delete a domain',
      description: 'Refused while it holds models, unless they are to go with it.',
      query: parameters({ cascade: CASCADE }),
      answers: { 204: { description: 'It is gone.' } },
      problems: ['inUse'],
      isConditional: true,
      handle: async ({ params, query, conditions }) => {
        const options = await writeOptions(conditions, () => domains.get(params.domain));
        await domains.delete(params.domain, { ...options, cascade: query.cascade });
        return NO_CONTENT;
      },
    }),
  ];
}
