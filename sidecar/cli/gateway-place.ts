import { LostAnswerError, type GatewayClient } from './gateway-client.js';
import { CliError, EXIT } from './exit-codes.js';
import { headersOf, linkHeader, type PurgePlace, type PurgePreview, type PurgeWish } from './purge-place.js';
import { isOver, readPurge, type PurgeView } from './purge-view.js';

const PATHS = { entities: '/ngsi-ld/v1/entities', temporal: '/ngsi-ld/v1/temporal/entities' } as const;

/** Purges that a gateway does. */
export function createGatewayPlace(gateway: GatewayClient): PurgePlace {
  async function start(wish: PurgeWish): Promise<PurgeView & { readonly id: string }> {
    const { target, query, tenant, link, options } = wish;
    const body = JSON.stringify({
      ...{ target, query, tenant, ...options },
      link: link === undefined ? undefined : linkHeader(link),
    });
    const answer = await gateway.json('POST', '/api/v2/purges', { body }).catch((error: unknown) => {
      if (!(error instanceof LostAnswerError)) throw error;
      const look = 'The purge may have been started all the same: ngsi-ld-gateway purges list';
      throw new CliError(error.exitCode, `${error.message}\n${look}`, { cause: error });
    });
    const { id = '', ...record } = readPurge(answer);
    return { ...record, id };
  }

  return {
    async preview({ target, query, ...wish }, signal) {
      // A dry run deletes nothing that could be recorded.
      const counted = query.split('&').filter((pair) => pair !== 'record=ids');
      const path = `${PATHS[target]}?${[...counted, 'dryRun=true'].join('&')}`;
      const answer = await gateway.json('DELETE', path, { headers: headersOf(wish), signal });
      return readPreview(answer);
    },
    async *run(wish, signal) {
      const record = await start(wish);
      yield record;
      yield* followPurge(gateway, record.id, { cancelOn: signal });
    },
    detach: start,
    close: async () => {},
  };
}

/**
 * The record of a purge whenever it changes, until its end.
 *
 * @param cancelOn cancels the purge when it aborts; the last record that is yielded then says what was done
 * @param stopOn stops following, and leaves the purge alone
 */
export async function* followPurge(
  gateway: GatewayClient,
  id: string,
  { cancelOn, stopOn }: { readonly cancelOn?: AbortSignal; readonly stopOn?: AbortSignal },
): AsyncGenerator<PurgeView, void> {
  let cancelling: Promise<unknown> | undefined;
  let cancelError: unknown;
  const cancel = () => {
    cancelling ??= cancelPurge(gateway, id).catch((error: unknown) => (cancelError = error));
  };
  if (cancelOn?.aborted === true) cancel();
  cancelOn?.addEventListener('abort', cancel, { once: true });
  try {
    const isLast = (event: unknown) => isOver(readPurge(event));
    for await (const event of gateway.events(`${pathOf(id)}/events`, isLast, stopOn)) yield readPurge(event);
  } catch (error) {
    if (stopOn?.aborted === true) return;
    // What the gateway refuses to show may not be there.
    if (error instanceof CliError && error.exitCode !== EXIT.failed) throw error;
    const { exitCode, message } =
      error instanceof CliError ? error : { exitCode: EXIT.failed, message: String(error) };
    throw new CliError(
      exitCode,
      `${message}\nThe purge ${id} goes on there: ngsi-ld-gateway purges follow ${id}`,
      {
        cause: error,
      },
    );
  } finally {
    cancelOn?.removeEventListener('abort', cancel);
    await cancelling;
  }
  if (cancelError instanceof CliError) throw cancelError;
}

/** Asks for a purge to be cancelled. @returns its record then */
export async function cancelPurge(gateway: GatewayClient, id: string): Promise<PurgeView | undefined> {
  const { text } = await gateway.send('POST', `${pathOf(id)}/cancel`);
  return text === '' ? undefined : readPurge(JSON.parse(text));
}

/** The path of a purge; a wrong id would be another path. @throws CliError */
export function pathOf(id: string): string {
  if (!/^[\w-]{1,128}$/.test(id))
    throw new CliError(EXIT.usage, `${JSON.stringify(id)} is not the id of a purge.`);
  return `/api/v2/purges/${id}`;
}

function readPreview(answer: unknown): PurgePreview {
  const preview = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof preview['matched'] !== 'number' || !Array.isArray(preview['sample']))
    throw new CliError(EXIT.failed, 'The gateway answered with something that is not a preview of a purge.');
  return preview as unknown as PurgePreview;
}
