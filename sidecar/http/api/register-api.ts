import type { FastifyInstance } from 'fastify';
import type { SchemaService, Workbench } from '../../schemas/models/index.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import { ClientDisconnect, disconnectSignal } from '../client-disconnect.js';
import type { TokenCheck } from '../gateway-token.js';
import { admission, bodyPresence, exactPath, nothingAt, preflight } from './admission.js';
import { sendAnswer } from './answer.js';
import type { BaseUrlOf } from './base-url.js';
import { createBodyCheck } from './body-check.js';
import { takeJsonBodies } from './body-parser.js';
import { writeConditions } from './conditions.js';
import { contextEndpoints } from './contexts.js';
import { domainContextEndpoints, domainEndpoints } from './domains.js';
import { isWrite, type Endpoint } from './endpoint.js';
import { transferEndpoints } from './transfer.js';
import { takeUploads } from './upload.js';
import { modelDocumentEndpoints } from './model-documents.js';
import { modelEndpoints } from './models.js';
import { openapiEndpoint } from './openapi.js';
import { purgeEndpoints, type PurgeEndpointsOptions } from './purges.js';
import { parameters, readParameters, type ParametersSchema } from './parameters.js';
import { referenceEndpoints } from './references.js';
import { retentionEndpoints, type RetentionEndpointsOptions } from './retention.js';
import { API_PATH, type ApiRoute } from './routes.js';
import type { JsonSchema } from './schema-types.js';
import { statusEndpoint, type StatusEndpointOptions } from './status.js';
import { workbenchEndpoints } from './workbench.js';

export interface ApiOptions extends PurgeEndpointsOptions, RetentionEndpointsOptions, StatusEndpointOptions {
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
      for (const endpoint of endpointsOf(options, routes)) {
        if (endpoint.upload === undefined) register(scope, endpoint, options);
        else {
          void scope.register((uploads, _none, ready) => {
            takeUploads(uploads, options.importLimit);
            register(uploads, endpoint, { ...options, bodyLimit: options.importLimit });
            ready();
          });
        }
      }
      done();
    },
    { prefix: API_PATH },
  );
}

function endpointsOf(options: ApiOptions, routes: readonly ApiRoute[]): readonly Endpoint[] {
  const { schemas, workbench } = options;
  const endpoints = [
    ...domainEndpoints(schemas),
    ...domainContextEndpoints(schemas),
    ...modelEndpoints(schemas),
    ...modelDocumentEndpoints(schemas),
    ...contextEndpoints(schemas),
    ...referenceEndpoints(schemas, options.transfer),
    ...transferEndpoints(options.transfer, options.importLimit),
    ...workbenchEndpoints(workbench),
    ...purgeEndpoints(options),
    ...retentionEndpoints(options),
    statusEndpoint(options),
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
        signal: bodyText === undefined ? undefined : new ClientDisconnect(reply.raw),
        ...{ conditions, baseUrl, request },
        disconnected: () => disconnectSignal(raw, reply.raw),
      });
      return sendAnswer(request, reply, answer);
    },
  });
}

const NO_CONDITIONS = { ifMatch: undefined, ifAbsent: false } as const;

/** The schema of a route as a function of Fastify's validation. */
function validatorOf(schema: JsonSchema, httpPart: string | undefined) {
  if (httpPart === 'querystring') {
    const expected = schema as unknown as ParametersSchema;
    return (query: object) => attempt(() => readParameters(expected, query));
  }
  const check = createBodyCheck(schema);
  return (body: unknown) =>
    attempt(() => {
      check(body);
      return body;
    });
}

function attempt(read: () => unknown): { readonly value: unknown } | { readonly error: Error } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Error) return { error };
    throw error;
  }
}
