import { contextUrl } from '../../schemas/service/context-urls.js';
import type { ContextService } from '../../schemas/service/service.js';
import { created, document, NO_CONTENT, ok, page } from './answer.js';
import { CONTEXT_CHANGE, NEW_CONTEXT } from './bodies.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { PAGE, parameters, VERSION } from './parameters.js';
import { contextJson, writtenContextJson } from './represent.js';
import { CONTEXT, WRITTEN_CONTEXT } from './resources.js';
import { apiUrl } from './urls.js';
import { writeOptions } from './write-options.js';

const tag = 'Contexts';

/** JSON-LD contexts: custom ones, those generated from models, and the core contexts of NGSI-LD. */
export function contextEndpoints(contexts: ContextService): readonly Endpoint[] {
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
      body: NEW_CONTEXT,
      answers: {
        201: { description: 'What was created.', content: { 'application/json': WRITTEN_CONTEXT } },
      },
      problems: ['alreadyExists', 'contextInvalid', 'dependencyChanged'],
      handle: async ({ body, baseUrl }) => {
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
            'application/ld+json': {
              type: 'object',
              properties: { '@context': { description: 'A JSON-LD context.' } },
              required: ['@context'],
            },
          },
        },
      },
      isCrossOrigin: true,
      handle: async ({ params, query: { version } }) =>
        document(await contexts.document(params.context, version), version),
    }),
    endpoint({
      method: 'PUT',
      path: '/contexts/:context',
      id: 'updateContext',
      tag,
      summary: 'Make a new version of a custom context',
      body: CONTEXT_CHANGE,
      answers: { 200: { description: 'What it is now.', content: { 'application/json': WRITTEN_CONTEXT } } },
      problems: ['readOnly', 'contextInvalid', 'dependencyChanged'],
      isConditional: true,
      handle: async ({ params, body, conditions, baseUrl }) => {
        const options = await writeOptions(conditions, () => contexts.document(params.context));
        const written = await contexts.update(params.context, body['@context'], { ...options, baseUrl });
        return ok(writtenContextJson(written, baseUrl), written.context.etag);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/contexts/:context',
      id: 'deleteContext',
      tag,
      summary: 'Delete a custom context',
      description: 'Refused while another context uses it.',
      answers: { 204: { description: 'It is gone.' } },
      problems: ['readOnly', 'inUse'],
      isConditional: true,
      handle: async ({ params, conditions }) => {
        const options = await writeOptions(conditions, () => contexts.document(params.context));
        await contexts.delete(params.context, options);
        return NO_CONTENT;
      },
    }),
  ];
}
