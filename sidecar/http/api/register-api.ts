import type { FastifyInstance } from 'fastify';
import type { SchemaService } from '../../schemas/service/service.js';
import type { Workbench } from '../../schemas/workbench/workbench.js';
import type { TokenCheck } from '../gateway-token.js';
import { admission, bodyPresence, exactPath, nothingAt } from './admission.js';
import type { BaseUrlOf } from './base-url.js';
import { takeJsonBodies } from './body-parser.js';
import { writeConditions } from './conditions.js';
import { contextEndpoints } from './context-endpoints.js';
import { preflight } from './cross-origin.js';
import { domainEndpoints } from './domain-endpoints.js';
import { isWrite } from './endpoint-problems.js';
import type { Endpoint } from './endpoint.js';
import { GoneSignal } from './gone-signal.js';
import { modelDocumentEndpoints } from './model-document-endpoints.js';
import { modelEndpoints } from './model-endpoints.js';
import { openapiEndpoint } from './openapi-endpoint.js';
import { parameters } from './parameters.js';
import { referenceEndpoints } from './reference-endpoints.js';
import type { ApiRoute } from './routes.js';
import type { JsonSchema } from './schema-type.js';
import { sendAnswer } from './send.js';
import { API_PATH } from './urls.js';
import { validatorOf } from './validators.js';
import { workbenchEndpoints } from './workbench-endpoints.js';

export interface ApiOptions {
  readonly schemas: SchemaService;
  readonly workbench: Workbench;
  readonly baseUrlOf: BaseUrlOf;
  readonly checkToken: TokenCheck;
  /** Of one request, in bytes. */
  readonly bodyLimit: number;
}

const NO_PARAMETERS = parameters({});

/** Everything under /api/v2. */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  void app.register(
    (scope, _options, done) => {
      const routes: ApiRoute[] = [];
      scope.addHook('onRoute', ({ method, url, config }) => {
        if (config?.endpoint === undefined) return;
        for (const name of [method].flat()) routes.push({ method: name, url, endpoint: config.endpoint });
      });
      scope.addHook('onRequest', admission(options.checkToken));
      takeJsonBodies(scope);
      scope.setValidatorCompiler<JsonSchema>(({ schema, httpPart }) => validatorOf(schema, httpPart));
      scope.setNotFoundHandler((request) => {
        const [path = ''] = request.url.split('?', 1);
        throw nothingAt(path, request.method, routes);
      });
      for (const endpoint of endpointsOf(options, routes)) register(scope, endpoint, options);
      done();
    },
    { prefix: API_PATH },
  );
}

function endpointsOf({ schemas, workbench }: ApiOptions, routes: readonly ApiRoute[]): readonly Endpoint[] {
  const endpoints = [
    ...domainEndpoints(schemas.domains),
    ...modelEndpoints(schemas.models),
    ...modelDocumentEndpoints(schemas.models),
    ...contextEndpoints(schemas.contexts),
    ...referenceEndpoints(schemas.references),
    ...workbenchEndpoints(workbench),
    openapiEndpoint(routes),
  ];
  return [...endpoints, ...endpoints.filter(({ isCrossOrigin }) => isCrossOrigin).map(preflight)];
}

function register(scope: FastifyInstance, endpoint: Endpoint, { baseUrlOf, bodyLimit }: ApiOptions): void {
  const { method, path, query = NO_PARAMETERS, body, bodyText, bodyMaxBytes = bodyLimit } = endpoint;
  const hasBody = isWrite(method) || bodyText !== undefined;
  scope.route({
    method,
    url: path,
    schema: { querystring: query, ...(body === undefined ? {} : { body }) },
    config: { endpoint },
    bodyLimit: Math.min(bodyMaxBytes, bodyLimit),
    onRequest: exactPath(endpoint),
    ...(hasBody ? { preValidation: bodyPresence(endpoint) } : {}),
    handler: async (request, reply) => {
      const { params, query, body, raw } = request;
      const conditions = isWrite(method, endpoint) ? writeConditions(raw.headers) : NO_CONDITIONS;
      const baseUrl = baseUrlOf(raw);
      const answer = await endpoint.handle({
        params: params as Readonly<Record<string, string>>,
        query,
        body,
        text: bodyText === undefined ? '' : (body as string),
        signal: bodyText === undefined ? undefined : new GoneSignal(reply.raw),
        conditions,
        baseUrl,
      });
      return sendAnswer(request, reply, answer);
    },
  });
}

const NO_CONDITIONS = { ifMatch: undefined, ifAbsent: false } as const;
