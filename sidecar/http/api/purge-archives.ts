import { Type } from 'typebox';
import { parsePurgePolicy, POLICY_HEADER, readJobOrigin } from '../new-purge.js';
import { refused } from '../refused.js';
import { accepted, headResponse, NDJSON, withPurgeId, NO_CONTENT, streamed } from './answer.js';
import { MOST, PURGE } from './purge-schemas.js';
import type { PurgeResourceOptions } from './purges.js';
import { type Api, apiUrl } from './routes.js';
import { Closed, content, empty, json, TEXT } from './schemas.js';

const tag = 'Purges';

const PARAMS = Type.Object({ purge: Type.String({ description: 'Id of a purge that has ended.' }) });

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Maximum number of ids in one request. To restore more, restore everything or send several requests. */
const MAX_IDS = 1000;

const RESTORE = Closed('Restore', {
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
      minItems: 1,
      maxItems: MAX_IDS,
      description: 'Ids of entities: only these are restored.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'true: nothing is created; existing data is compared with the archive.' }),
  ),
  maxPerSecond: Type.Optional(MOST),
});

/** The routes to read, restore and erase what purges have archived. */
export function purgeArchiveRoutes(api: Api, { purges }: PurgeResourceOptions): void {
  const { archives, restores } = purges;
  api.post('/purges/:purge/restore', {
    schema: {
      tags: [tag],
      operationId: 'restorePurge',
      summary: 'Restore what a purge archived',
      description:
        'A job of its own, with a record under /purges. Existing data is never ' +
        'overwritten. createdAt, modifiedAt and ids of instances are new.',
      params: PARAMS,
      body: RESTORE,
      response: { 202: json('Its record.', PURGE) },
    },
    bodyLimit: MAX_BODY_BYTES,
    config: { isVolatile: true, isForDryRuns: true },
    handler: async (request) => {
      const { body, params, baseUrl } = request;
      const record = await restores.submit(params.purge, {
        dryRun: false,
        ...body,
        ...readJobOrigin(request),
      });
      return withPurgeId(accepted(apiUrl(baseUrl, 'purges', record.id), record), record.id);
    },
  });

  api.get('/purges/:purge/archive', {
    schema: {
      tags: [tag],
      operationId: 'getPurgeArchive',
      summary: 'Read what a purge archived',
      description:
        'One entity per line, as the broker gave it. For a purge of ' +
        'attributes or instances, a line has only these, with id and type.',
      params: PARAMS,
      response: { 200: content('The archive.', { [NDJSON]: TEXT }) },
    },
    config: { isVolatile: true },
    handler: async ({ params, method }) => {
      if (method === 'HEAD') {
        await archives.find(params.purge);
        return headResponse(NDJSON);
      }
      return streamed(await archives.read(params.purge), NDJSON);
    },
  });

  api.delete('/purges/:purge/archive', {
    schema: {
      tags: [tag],
      operationId: 'erasePurgeArchive',
      summary: 'Erase what a purge archived',
      description:
        'Its record is kept, and says when this was done. The purge can no longer be undone. A caller ' +
        'whose policy demands archives may not erase any.',
      params: PARAMS,
      response: { 204: empty('Erased.') },
    },
    config: { isVolatile: true },
    handler: async ({ params, headers }) => {
      const { archive = 'none' } = parsePurgePolicy(headers[POLICY_HEADER]);
      if (archive !== 'none')
        throw refused(
          'forbiddenByPolicy',
          `The policy of this gateway demands that your purges are archived (archive=${archive}), so you may not erase archives.`,
        );
      await archives.erase(params.purge);
      return NO_CONTENT;
    },
  });
}
