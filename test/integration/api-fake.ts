import { pino } from 'pino';
import { createBaseUrl } from '../../sidecar/http/api/request-hooks.js';
import { buildApp, type AppOptions } from '../../sidecar/http/app.js';
import { createRequestPipeline } from '../../sidecar/http/request-pipeline.js';
import { Access } from '../../sidecar/http/access.js';
import type { PurgeService } from '../../sidecar/jobs/purge-service.js';
import type { ScanService } from '../../sidecar/scans/scan-service.js';
import type { RetentionService } from '../../sidecar/jobs/retention/retention-service.js';
import type { SchemaService, Workbench } from '../../sidecar/schemas/models/index.js';
import type { Transfer } from '../../sidecar/schemas/repository/transfer.js';
import { Log, stopLater } from '../support/gateway-harness.js';
import { ApiClient, CAR } from './api-client.js';

/** The services that the API needs. */
type Service = Pick<
  AppOptions,
  'schemas' | 'workbench' | 'transfer' | 'purges' | 'retention' | 'writePolicies' | 'writeChecks' | 'scans'
>;

/** A schema service and a workbench whose every call fails. */
export function failingService(error: () => Error): Service {
  const room = new Proxy({}, { get: () => async () => Promise.reject(error()) });
  const purges = new Proxy(
    { archives: room, restores: room },
    { get: (parts, name) => Reflect.get(name in parts ? parts : room, name) as unknown },
  );
  const rooms = { domains: room, models: room, examples: room, contexts: room, references: room };
  const store = { ...rooms, isReady: async () => false };
  const schemas = new Proxy(
    { store },
    { get: (parts, name) => (name === 'store' ? parts.store : name === 'forDryRun' ? () => schemas : room) },
  ) as unknown as SchemaService;
  return {
    schemas,
    workbench: room as unknown as Workbench,
    transfer: room as unknown as Transfer,
    purges: purges as unknown as PurgeService,
    retention: room as unknown as RetentionService,
    scans: room as unknown as ScanService,
    writePolicies: room as unknown as AppOptions['writePolicies'],
    writeChecks: {
      startedAt: 0,
      counts: () => ({ checked: 0, invalid: 0, refused: 0, notJudged: 0, findings: [] }),
    },
  };
}

/** Starts the API without the other parts of a gateway. */
export async function startFakeApi(
  service: Service,
): Promise<{ readonly api: ApiClient; readonly log: Log }> {
  const log = new Log();
  const parts: Pick<
    AppOptions,
    | ('schemas' | 'workbench' | 'baseUrlOf' | 'bodyLimit' | 'logger' | 'isShuttingDown')
    | ('transfer' | 'importLimit')
    | 'learnt'
    | ('access' | 'checkHost' | 'checkLoop' | 'pipeline' | 'purges' | 'retention')
    | ('writePolicies' | 'writeChecks' | 'scans')
  > = {
    ...service,
    baseUrlOf: createBaseUrl(undefined),
    bodyLimit: 100_000,
    importLimit: 100_000,
    access: new Access({ tokens: undefined }),
    pipeline: createRequestPipeline(),
    checkHost: () => undefined,
    checkLoop: () => undefined,
    logger: pino({}, log.stream),
    isShuttingDown: () => false,
    learnt: () => ({ entities: new Map(), temporal: new Map() }),
  };
  const client = { send: async () => Promise.resolve({ status: 200 }) };
  // Purges and pass-through are not called.
  const app = buildApp({ ...parts, client } as unknown as AppOptions);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  stopLater(() => app.close());
  return { api: await ApiClient.of(url), log };
}

export const MODEL = '/domains/D/models/M';

/** A retention policy that deletes nothing. */
export const RETENTION = {
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P90D',
  by: 'modifiedAt',
  schedule: '0 3 * * *',
};

/** A request for each operation that needs the schema service or the records of purges. */
export const REQUESTS: readonly (readonly [method: string, target: string, body?: unknown])[] = [
  ['GET', '/domains'],
  ['POST', '/domains', { name: 'D' }],
  ['GET', '/domains/D'],
  ['PUT', '/domains/D', { description: 'd' }],
  ['DELETE', '/domains/D'],
  ['GET', '/domains/D/context'],
  ['GET', '/domains/D/context/warnings'],
  ['GET', '/domains/D/models'],
  ['POST', '/domains/D/models', { name: 'M', schema: CAR }],
  ['GET', MODEL],
  ['PUT', MODEL, { schema: CAR }],
  ['DELETE', MODEL],
  ['GET', `${MODEL}/versions`],
  ['GET', `${MODEL}/versions/diff`],
  ['GET', `${MODEL}/schema`],
  ['GET', `${MODEL}/openapi`],
  ['GET', `${MODEL}/context`],
  ['GET', `${MODEL}/files`],
  ['GET', `${MODEL}/files/schema.json`],
  ['GET', `${MODEL}/examples`],
  ['GET', `${MODEL}/examples/example.json`],
  ['PUT', `${MODEL}/examples/example.json`, { id: 'urn:a:1', type: 'M' }],
  ['DELETE', `${MODEL}/examples/example.json`],
  ['GET', '/contexts'],
  ['POST', '/contexts', { name: 'C', '@context': {} }],
  ['GET', '/contexts/C'],
  ['PUT', '/contexts/C', { '@context': {} }],
  ['DELETE', '/contexts/C'],
  ['GET', '/references'],
  ['GET', '/references?uri=urn:doc:a'],
  ['PUT', '/references?uri=urn:doc:a', {}],
  ['DELETE', '/references?uri=urn:doc:a'],
  ['PUT', '/references?uri=urn:doc:a&dependents=true', {}],
  ['POST', '/import', { documents: {} }],
  ['GET', '/export'],
  ['GET', '/export?domain=D'],
  ['POST', '/workbench/schema/infer', { speed: 1 }],
  ['POST', '/workbench/jsonld/expand', { document: {} }],
  ['POST', '/workbench/jsonld/compact', { document: {} }],
  ['GET', '/models?q=m'],
  ['POST', '/validate', { id: 'urn:a:1', type: 'M' }],
  ['POST', '/validate/D/M', { id: 'urn:a:1', type: 'M' }],
  ['GET', '/purges'],
  ['POST', '/purges', { target: 'entities', query: 'type=Car&dryRun=true' }],
  ['GET', '/purges/P'],
  ['PATCH', '/purges/P', { concurrency: 1 }],
  ['POST', '/purges/P/cancel'],
  ['GET', '/purges/P/events'],
  ['GET', '/purges/P/ids'],
  ['DELETE', '/purges/P/ids'],
  ['POST', '/purges/P/restore', { dryRun: true }],
  ['GET', '/purges/P/archive'],
  ['DELETE', '/purges/P/archive'],
  ['GET', '/scans'],
  ['POST', '/scans', { query: 'type=Car' }],
  ['GET', '/scans/S'],
  ['PATCH', '/scans/S', { maxPerSecond: 1 }],
  ['POST', '/scans/S/cancel'],
  ['GET', '/scans/S/events'],
  ['GET', '/scans/S/entities?finding=0'],
  ['GET', '/retention-policies'],
  ['POST', '/retention-policies', { name: 'R', ...RETENTION }],
  ['POST', '/retention-policies/preview', RETENTION],
  ['GET', '/retention-policies/R'],
  ['PUT', '/retention-policies/R', RETENTION],
  ['GET', '/retention-policies/R/preview'],
  ['POST', '/retention-policies/R/run'],
  ['GET', '/retention-policies/R/runs'],
  ['DELETE', '/retention-policies/R'],
  ['GET', '/write-policies'],
  ['POST', '/write-policies', { name: 'W', mode: 'report' }],
  ['GET', '/write-policies/W'],
  ['PUT', '/write-policies/W', { mode: 'report' }],
  ['GET', '/write-checks?policy=W'],
  ['DELETE', '/write-policies/W'],
];
