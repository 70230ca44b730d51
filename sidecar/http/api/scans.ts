import { Type } from 'typebox';
import { requireTenants, tenantsOf } from '../../auth/index.js';
import type { ScanService } from '../../scans/scan-service.js';
import { JOB_STATES, type FoundEntity, type ScanRecord } from '../../store/index.js';
import { readJobOrigin } from '../new-purge.js';
import { accepted, okWithoutETag, headResponse, NDJSON, page, streamed } from './answer.js';
import { EVENTS_SCHEMA, jobEvents } from './job-events.js';
import { FOUND_ENTITY, LISTED_SCAN, NEW_SCAN, SCAN, SCAN_CHANGE, shownScan } from './scan-schemas.js';
import { type Api, apiUrl } from './routes.js';
import { content, COUNT, json, list, PAGE, Query, TEXT, TextParameter } from './schemas.js';
import { isListed, listedTenants } from './tenants.js';
import { defined } from '../../shared/defined.js';

export interface ScanResourceOptions {
  readonly scans: ScanService;
}

const tag = 'Scans';

const PARAMS = Type.Object({ scan: Type.String({ description: 'Id of a scan.' }) });

const FILTERS = {
  state: Type.Optional(Type.Enum(JOB_STATES, { type: 'string', description: 'The state of the scans.' })),
  tenant: TextParameter(256, 'The tenant that they were for.'),
  caller: TextParameter(256, 'Who started them.'),
};

/** The routes to start, watch, change, cancel and look up scans, and to list the entities of their findings. */
export function scanRoutes(api: Api, options: ScanResourceOptions): void {
  const { scans } = options;
  api.get('/scans', {
    schema: {
      tags: [tag],
      operationId: 'listScans',
      summary: 'List scans, the newest first',
      description: 'Their findings are left out.',
      querystring: Query({ ...FILTERS, ...PAGE }),
      response: { 200: list('Their records.', LISTED_SCAN) },
    },
    handler: async (request) => {
      const { query, baseUrl } = request;
      const { items, total } = await scans.list({ ...query, ...listedTenants(request, query.tenant) });
      // As in the list of purges, all tenants of a scan must be allowed.
      const shown = items.filter((one) => isListed(request, one));
      return page(shown.map(listed), total, query, apiUrl(baseUrl, 'scans'));
    },
  });

  api.post('/scans', {
    schema: {
      tags: [tag],
      operationId: 'startScan',
      summary: 'Start a scan',
      description:
        'Judges every entity that a GET of the query would show, and deletes ' +
        'nothing: by one model, by a schema, or by the models of their types.',
      body: NEW_SCAN,
      response: { 202: json('Its record.', SCAN) },
    },
    config: { isVolatile: true, isForDryRuns: true },
    handler: async (request) => {
      const { tenant, link, ...scan } = request.body;
      const origin = readJobOrigin(request, defined({ 'ngsild-tenant': tenant, link }));
      requireTenants(request.caller, tenantsOf(origin.headers), 'The scan');
      const record = await scans.submit({ ...scan, ...origin });
      return accepted(apiUrl(request.baseUrl, 'scans', record.id), shownScan(record));
    },
  });

  api.get('/scans/:scan', {
    schema: {
      tags: [tag],
      operationId: 'getScan',
      summary: 'Read the record of a scan',
      params: PARAMS,
      response: { 200: json('The record.', SCAN) },
    },
    config: { isVolatile: true },
    handler: async ({ params }) => okWithoutETag(shownScan(await scans.get(params.scan))),
  });

  api.patch('/scans/:scan', {
    schema: {
      tags: [tag],
      operationId: 'changeScan',
      summary: 'Change how fast a scan works',
      description: 'While it waits or runs.',
      params: PARAMS,
      body: SCAN_CHANGE,
      response: { 200: json('The record.', SCAN) },
    },
    config: { isVolatile: true, isForDryRuns: true },
    handler: async ({ params, body }) => okWithoutETag(shownScan(await scans.change(params.scan, body))),
  });

  api.post('/scans/:scan/cancel', {
    schema: {
      tags: [tag],
      operationId: 'cancelScan',
      summary: 'Cancel a scan',
      description: 'Its findings so far are kept. A scan that has ended stays as it is.',
      params: PARAMS,
      response: { 202: json('The record.', SCAN) },
    },
    config: { isVolatile: true, isForDryRuns: true },
    handler: async ({ params, baseUrl }) =>
      accepted(apiUrl(baseUrl, 'scans', params.scan), shownScan(await scans.cancel(params.scan))),
  });

  api.get('/scans/:scan/events', {
    schema: {
      tags: [tag],
      operationId: 'watchScan',
      summary: 'Watch a scan by server-sent events',
      params: PARAMS,
      ...EVENTS_SCHEMA,
    },
    config: { isVolatile: true },
    handler: async ({ params: { scan } }, reply) =>
      jobEvents(reply, await scans.get(scan), (signal) => scans.watch(scan, signal), shownScan),
  });

  api.get('/scans/:scan/entities', {
    schema: {
      tags: [tag],
      operationId: 'listFoundEntities',
      summary: 'List the entities of a finding',
      description:
        'Those that are kept: at most 10,000 of one finding, and 100,000 of a ' +
        'scan. With `Accept: application/x-ndjson`, all of them, one per line.',
      params: PARAMS,
      querystring: Query({
        finding: { ...COUNT, maximum: 999, description: 'Position of the finding in the record, from 0.' },
        ...PAGE,
      }),
      response: {
        200: content('The entities, with what is wrong with each.', {
          'application/json': Type.Array(FOUND_ENTITY),
          [NDJSON]: TEXT,
        }),
      },
    },
    handler: async ({ params, query, headers, method, baseUrl }) => {
      const found = await scans.findingEntities(params.scan, query.finding);
      if (headers.accept?.includes(NDJSON) === true) {
        if (method === 'HEAD') return headResponse(NDJSON);
        return streamed(lines(found.from), NDJSON);
      }
      const items = await sliced(found.from, query);
      const url = apiUrl(baseUrl, 'scans', params.scan, 'entities');
      return page(items, found.kept, query, url);
    },
  });
}

type From = (position: number) => Promise<readonly FoundEntity[]>;

async function sliced(
  from: From,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly FoundEntity[]> {
  const items: FoundEntity[] = [];
  while (items.length < limit) {
    const more = await from(offset + items.length);
    if (more.length === 0) break;
    items.push(...more.slice(0, limit - items.length));
  }
  return items;
}

async function* lines(from: From): AsyncGenerator<string, void> {
  for (let position = 0; ;) {
    const more = await from(position);
    if (more.length === 0) return;
    position += more.length;
    yield more.map((one) => `${JSON.stringify(one)}\n`).join('');
  }
}

function listed(record: ScanRecord) {
  const { findings: _findings, ...shown } = shownScan(record);
  return shown;
}
