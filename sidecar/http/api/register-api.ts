import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { SchemaService, Workbench } from '../../schemas/models/index.js';
import type { Transfer } from '../../schemas/repository/transfer.js';
import type { Access } from '../access.js';
import { SAFE_METHODS } from '../request-checks.js';
import {
  authorizationHook,
  type BaseUrlOf,
  bodyPresenceHook,
  notFoundHandler,
  preconditionsHook,
  writeNotificationHook,
  handlePreflight,
} from './request-hooks.js';
import { answering } from './answer.js';
import { acceptJsonBodies } from './body-parser.js';
import { contextRoutes } from './contexts.js';
import { domainContextRoutes, domainRoutes } from './domains.js';
import { compileValidator, refusalOf } from './validation.js';
import { transferRoutes } from './transfer.js';
import { modelDocumentRoutes } from './model-documents.js';
import { modelExampleRoutes } from './model-examples.js';
import { modelRoutes } from './models.js';
import { describeRoutes, openapiRoute } from './openapi.js';
import { purgeArchiveRoutes } from './purge-archives.js';
import { purgeRoutes, type PurgeResourceOptions } from './purges.js';
import { referenceRoutes } from './references.js';
import { retentionRoutes, type RetentionResourceOptions } from './retention.js';
import { API_PATH, type Api, type ApiRoute } from './routes.js';
import { Query } from './schemas.js';
import { scanRoutes, type ScanResourceOptions } from './scans.js';
import { meRoute } from './me.js';
import { statusRoute, type StatusResourceOptions } from './status.js';
import { tenantGuard } from './tenants.js';
import { workbenchRoutes } from './workbench.js';
import { writePolicyRoutes, type WritePolicyResourceOptions } from './write-policies.js';

/** The services behind `/api/v2`, and the limits of its bodies. */
export interface ApiOptions
  extends
    PurgeResourceOptions,
    ScanResourceOptions,
    RetentionResourceOptions,
    StatusResourceOptions,
    WritePolicyResourceOptions {
  readonly schemas: SchemaService;
  readonly workbench: Workbench;
  readonly baseUrlOf: BaseUrlOf;
  readonly access: Access;
  readonly transfer: Transfer;
  /** Called before the answer to each request that may have changed something. Must not throw. */
  readonly onWritten?: () => void;
  /** Maximum size of one request, in bytes. */
  readonly bodyLimit: number;
  /** Maximum size of one import, in bytes as sent. */
  readonly importLimit: number;
}

/** Registers the tenant checks, which only apply to callers who sign in: other callers have all tenants. */
function keepToTenants(api: Api, options: ApiOptions): void {
  const guard = tenantGuard(options);
  api.addHook('onRequest', guard);
  // Repeats the check, because a body may take a while to arrive, even an empty one, and a policy of that name may belong
  // to another tenant by then.
  api.addHook('preHandler', async (request) => {
    if (!SAFE_METHODS.has(request.method)) await guard(request);
  });
}

const NO_PARAMETERS = Query({});

/** Registers everything under /api/v2. */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  const { schemas, transfer, bodyLimit, importLimit } = options;
  void app.register(
    async (scope) => {
      const api: Api = scope.withTypeProvider<TypeBoxTypeProvider>();
      const routes: ApiRoute[] = [];
      api.addHook('onRoute', (route) => {
        const { method, url, schema, config = {}, handler } = route;
        route.handler = answering(api, handler);
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
      api.decorateRequest('caller');
      api.addHook('onRequest', authorizationHook(options.access));
      if (options.access.hasSignIn) keepToTenants(api, options);
      api.addHook('preValidation', bodyPresenceHook);
      api.addHook('preHandler', preconditionsHook(options.baseUrlOf));
      acceptJsonBodies(api, bodyLimit);
      if (options.onWritten !== undefined) api.addHook('onSend', writeNotificationHook(options.onWritten));
      api.setValidatorCompiler(compileValidator);
      api.setSchemaErrorFormatter(refusalOf);
      // Answers are already bytes at this point. The default, fast-json-stringify, would not keep exact numbers.
      api.setSerializerCompiler(() => JSON.stringify);
      api.setNotFoundHandler(notFoundHandler(routes));

      domainRoutes(api, schemas);
      domainContextRoutes(api, schemas);
      modelRoutes(api, schemas);
      modelDocumentRoutes(api, schemas);
      modelExampleRoutes(api, schemas, options.workbench);
      contextRoutes(api, schemas);
      referenceRoutes(api, schemas, transfer);
      transferRoutes(api, transfer, importLimit);
      workbenchRoutes(api, options.workbench);
      purgeRoutes(api, options);
      purgeArchiveRoutes(api, options);
      scanRoutes(api, options);
      retentionRoutes(api, options);
      writePolicyRoutes(api, options);
      statusRoute(api, options);
      meRoute(api);
      openapiRoute(api, routes);
      for (const route of [...routes])
        if (route.config.isCrossOrigin && route.method === 'GET') handlePreflight(api, route);
    },
    { prefix: API_PATH },
  );
}
