import { derived } from './answer.js';
import { endpoint, type Endpoint } from './endpoint.js';
import { apiOpenApi } from './openapi.js';
import type { ApiRoute } from './routes.js';
import { apiUrl } from './urls.js';

/** The API itself. @param routes all of them, once the first request comes */
export function openapiEndpoint(routes: readonly ApiRoute[]): Endpoint {
  let description: ReturnType<typeof apiOpenApi> | undefined;
  return endpoint({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenapi',
    tag: 'This API',
    summary: 'This API as OpenAPI 3.1',
    answers: {
      200: { description: 'Self-contained.', content: { 'application/json': { type: 'object' } } },
    },
    isCrossOrigin: true,
    isStatic: true,
    handle: async ({ baseUrl }) => {
      description ??= apiOpenApi(routes);
      return derived({ ...description, servers: [{ url: apiUrl(baseUrl) }] });
    },
  });
}
