import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { SchemaService } from '../../schemas/models/service.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import type { Workbench } from '../../schemas/models/workbench.js';
import { writeJson } from '../../shared/json/lossless-json.js';
import { ClientDisconnect, disconnectSignal } from '../client-disconnect.js';
import type { TokenCheck } from '../gateway-token.js';
import { admission, bodyPresence, notFound, preparation, takePreflight } from './admission.js';
import { send } from './answer.js';
import type { BaseUrlOf } from './base-url.js';
import { takeJsonBodies } from './body-parser.js';
import { contextRoutes } from './contexts.js';
import { domainContextRoutes, domainRoutes } from './domains.js';
import type { Endpoint } from './endpoint.js';
import { refusalOf } from './faults.js';
import { transferRoutes } from './transfer.js';
import { modelDocumentRoutes } from './model-documents.js';
import { modelRoutes } from './models.js';
import { describeRoutes, openapiRoute } from './openapi.js';
import { purgeEndpoints, type PurgeEndpointsOptions } from './purges.js';
import { PATH_PARAMETERS } from './parameters.js';
import { referenceRoutes } from './references.js';
import { retentionEndpoints, type RetentionEndpointsOptions } from './retention.js';
import { API_PATH, type Api, type ApiRoute } from './routes.js';
import { Query } from './schemas.js';
import { statusRoute, type StatusRouteOptions } from './status.js';
import { compileValidator } from './validation.js';
import { workbenchRoutes } from './workbench.js';

export interface ApiOptions extends PurgeEndpointsOptions, RetentionEndpointsOptions, StatusRouteOptions {
  readonly schemas: SchemaService;
  readonly workbench: Workbench;
  readonly baseUrlOf: BaseUrlOf;
  readonly checkToken: TokenCheck;
  readonly transfer: Transfer;
  /** Of one request, in bytes. */
  readonly bodyLimit: number;
  /** Of one import, in bytes as it is sent. */
  readonly importLimit: number;
}

const NO_PARAMETERS = Query({});

/** Everything under /api/v2. */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  const { schemas, transfer, bodyLimit, importLimit } = options;
  void app.register(
    async (scope) => {
      const api: Api = scope.withTypeProvider<TypeBoxTypeProvider>();
      const routes: ApiRoute[] = [];
      api.addHook('onRoute', (route) => {
        const { method, url, schema, config = {} } = route;
        route.schema = { querystring: NO_PARAMETERS, ...schema };
        route.bodyLimit = Math.min(
          route.bodyLimit ?? Infinity,
          config.upload === undefined ? bodyLimit : importLimit,
        );
        for (const name of [method].flat()) routes.push({ method: name, url, schema: route.schema, config });
      });
      await describeRoutes(api);
      api.decorateRequest('baseUrl', '');
      api.decorateRequest('conditions');
      api.addHook('onRequest', admission(options.checkToken));
      api.addHook('preValidation', bodyPresence);
      api.addHook('preHandler', preparation(options.baseUrlOf));
      takeJsonBodies(api);
      api.setValidatorCompiler(compileValidator);
      api.setSchemaErrorFormatter(refusalOf);
      // Answers are bytes when they come here: fast-json-stringify would not keep exact numbers.
      api.setSerializerCompiler(() => writeJson);
      api.setNotFoundHandler(notFound(routes));

      domainRoutes(api, schemas.domains);
      domainContextRoutes(api, schemas.domains);
      modelRoutes(api, schemas.models);
      modelDocumentRoutes(api, schemas.models);
      contextRoutes(api, schemas.contexts);
      referenceRoutes(api, schemas.references, transfer);
      transferRoutes(api, transfer, importLimit);
      workbenchRoutes(api, options.workbench);
      for (const endpoint of endpointsOf(options)) register(api, endpoint);
      statusRoute(api, options);
      openapiRoute(api, routes);
      for (const route of [...routes])
        if (route.config.isCrossOrigin && route.method === 'GET') takePreflight(api, route);
    },
    { prefix: API_PATH },
  );
}

function endpointsOf(options: ApiOptions): readonly Endpoint[] {
  return [...purgeEndpoints(options), ...retentionEndpoints(options)];
}

function register(api: Api, endpoint: Endpoint): void {
  const { method, path, query, body, bodyText, bodyMaxBytes, description } = endpoint;
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  const params = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, PATH_PARAMETERS[name]])),
  };
  api.route({
    method,
    url: path,
    schema: {
      ...(query === undefined ? {} : { querystring: query }),
      ...(names.length === 0 ? {} : { params }),
      ...{ tags: [endpoint.tag], summary: endpoint.summary, operationId: endpoint.id },
      ...(description === undefined ? {} : { description }),
      ...(body === undefined ? {} : { body }),
      ...(bodyText === undefined ? {} : { body: { type: 'string', contentSchema: bodyText } }),
      response: Object.fromEntries(
        Object.entries(endpoint.answers).map(([status, answer]) => [
          status,
          answer.content === undefined
            ? { description: answer.description, type: 'null' }
            : {
                description: answer.description,
                content: Object.fromEntries(
                  Object.entries(answer.content).map(([type, schema]) => [type, { schema }]),
                ),
              },
        ]),
      ),
    },
    config: {
      ...endpoint,
      namesPurge: Object.values(endpoint.answers).some((answer) => answer.namesPurge),
    } as { upload?: Readonly<Record<string, TSchema>> },
    ...(bodyMaxBytes === undefined ? {} : { bodyLimit: bodyMaxBytes }),
    handler: async (request, reply) =>
      send(
        reply,
        await endpoint.handle({
          params: request.params as Readonly<Record<string, string>>,
          query: request.query,
          body: request.body,
          text: bodyText === undefined ? '' : (request.body as string),
          signal: bodyText === undefined ? undefined : new ClientDisconnect(reply.raw),
          ...{ conditions: request.conditions, baseUrl: request.baseUrl, request },
          disconnected: () => disconnectSignal(request.raw, reply.raw),
        }),
      ),
  });
}
