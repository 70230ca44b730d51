import { Type } from 'typebox';
import type { ArchiveService } from '../../jobs/archive-service.js';
import { NO_CONTENT, send } from './answer.js';
import type { Api } from './routes.js';
import { content, empty, TEXT } from './schemas.js';

export interface ArchiveResourceOptions {
  readonly archives: ArchiveService;
}

const tag = 'Purges';

const PARAMS = Type.Object({ purge: Type.String({ description: 'Id of a purge that has ended.' }) });

const NDJSON = 'application/x-ndjson';

/** What purges archived of what they deleted: read and erased. */
export function purgeArchiveRoutes(api: Api, { archives }: ArchiveResourceOptions): void {
  api.get('/purges/:purge/archive', {
    schema: {
      tags: [tag],
      operationId: 'getPurgeArchive',
      summary: 'Read what a purge archived',
      description:
        'One entity a line, as the broker gave it. Of a purge of attributes or instances, a line has these alone, with id and type.',
      params: PARAMS,
      response: { 200: content('The archive.', { [NDJSON]: TEXT }) },
    },
    config: {
      isVolatile: true,
      isPrivate: true,
      problems: ['inUse', 'archiveUnreadable', 'archiveUnavailable'],
    },
    handler: async ({ params, method }, reply) => {
      if (method === 'HEAD') {
        await archives.find(params.purge);
        return send(reply, { status: 200, body: { bytes: Buffer.of(), mediaType: NDJSON } });
      }
      return send(reply, {
        status: 200,
        stream: { text: await archives.read(params.purge), mediaType: NDJSON },
      });
    },
  });

  api.delete('/purges/:purge/archive', {
    schema: {
      tags: [tag],
      operationId: 'erasePurgeArchive',
      summary: 'Erase what a purge archived',
      description: 'Its record is kept, and says so. The purge can no longer be undone.',
      params: PARAMS,
      response: { 204: empty('Erased.') },
    },
    config: { isVolatile: true, problems: ['inUse', 'archiveUnavailable'] },
    handler: async ({ params }, reply) => {
      await archives.erase(params.purge);
      return send(reply, NO_CONTENT);
    },
  });
}
