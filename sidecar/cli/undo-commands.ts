import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { isFinal } from '../client/purges.js';
import type { ApiClient } from '../client/client.js';
import { writeStream, type CliContext } from './context.js';
import { defined } from '../shared/defined.js';
import { EXIT, type ExitCode, failure } from './exit-codes.js';
import { followPurge } from './gateway-backend.js';
import { requireRedirected } from './output.js';
import { rateOf } from './program-options.js';
import { showDetached, showProgress } from './purge-command.js';
import { readPurge } from './purge-view.js';
import { resolvePurgeId } from './purges-commands.js';

export interface RestoreOptions {
  /** Only these entities. */
  readonly id?: readonly string[];
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly json?: boolean;
  readonly detach?: boolean;
}

/** Restores what a purge archived, and follows the restore to its end; Ctrl+C cancels it. */
export async function restorePurge(
  idOrPrefix: string,
  options: RestoreOptions,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  const purge = await resolvePurgeId(idOrPrefix, gateway);
  const { id: ids, dryRun, rate, json, detach } = options;
  const body = { ...defined({ ids, dryRun }), ...rateOf(rate) };
  const record = readPurge(await gateway.json('post', '/purges/{purge}/restore', { path: { purge }, body }));
  if (detach === true) return showDetached(record, { json }, context);
  const stopped = new AbortController();
  const release = context.onInterrupt(() => stopped.abort());
  try {
    const views = isFinal(record)
      ? (async function* () {
          yield record;
        })()
      : followPurge(gateway, record.id, context, { cancelOn: stopped.signal });
    const onStop = 'Stopping: nothing more will be created; waiting for requests in progress.';
    return await showProgress(views, { json }, context, { signal: stopped.signal, onStop });
  } finally {
    release();
  }
}

/** Writes what a purge archived to standard output, as NDJSON compressed with gzip. */
export async function readArchive(
  idOrPrefix: string,
  _options: object,
  gateway: ApiClient,
  context: CliContext,
): Promise<ExitCode> {
  requireRedirected(context, 'archive.ndjson.gz');
  const purge = await resolvePurgeId(idOrPrefix, gateway);
  const { body } = await gateway.request('get', '/purges/{purge}/archive', { path: { purge } });
  if (body === null) throw failure('The gateway answered without an archive.');
  try {
    await writeStream(context, Readable.fromWeb(body), createGzip());
  } catch (cause) {
    throw failure('The archive was cut off, so the output is incomplete. The log of the gateway says why.', {
      cause,
    });
  }
  return EXIT.done;
}
