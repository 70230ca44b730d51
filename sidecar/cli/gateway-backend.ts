import { linkHeader, PURGE_PATHS } from '../client/purges.js';
import type { Schemas } from '../client/operations.js';
import { UnreachableError } from '../client/errors.js';
import { type ApiClient } from '../client/client.js';
import { defined } from '../shared/defined.js';
import { type CliContext, commandText } from './context.js';
import { usage } from './exit-codes.js';
import { requireMembers, gatewayFailure } from './gateway-responses.js';
import { followJob } from './gateway-events.js';
import { headersOf, type PurgeBackend, type PurgeRequest } from './purge-backend.js';
import { readPurge, type PurgeView } from './purge-view.js';

type Purge = Schemas['Purge'];

/** The parts of the context that are used to follow purges. */
type Following = Pick<CliContext, 'clock' | 'gatewayOption'>;

/** Creates a backend that runs purges on a gateway. */
export function createGatewayBackend(gateway: ApiClient, context: Following): PurgeBackend {
  function bodyOf({ target, query, tenant, link, options }: PurgeRequest) {
    return { target, query, ...defined({ tenant, ...options, link: link && linkHeader(link) }) };
  }

  async function start(request: PurgeRequest): Promise<Purge> {
    const body = request.plan === undefined ? bodyOf(request) : { plan: request.plan };
    try {
      return readPurge(await gateway.json('post', '/purges', { body }));
    } catch (error) {
      if (!(error instanceof UnreachableError && error.mayHaveArrived)) throw error;
      throw gatewayFailure(
        error,
        `The purge may still have been started. To check: ${commandText('purges list', context)}`,
      );
    }
  }

  return {
    async preview({ target, query, ...request }, signal) {
      // A dry run deletes nothing, so it has no ids to record.
      const counted = query.split('&').filter((pair) => pair !== 'record=ids');
      const asked = { query: [...counted, 'dryRun=true'].join('&'), headers: headersOf(request), signal };
      const answer = (await gateway.json('delete', PURGE_PATHS[target], asked)) as Schemas['PurgePreview'];
      return requireMembers(answer, 'a preview of a purge', { matched: 'number', sample: 'array' });
    },
    async plan(request, signal) {
      // A dry run does not accept record=ids, and its plan would not record any ids either.
      if (request.query.split('&').includes('record=ids')) return undefined;
      let last: PurgeView | undefined;
      try {
        const body = { ...bodyOf(request), dryRun: true, plan: true as const };
        const record = readPurge(await gateway.json('post', '/purges', { body, signal }));
        for await (const view of followPurge(gateway, record.id, context, { cancelOn: signal })) last = view;
      } catch (error) {
        if (signal.aborted) throw error;
        // The preview without a plan reports the error.
        return undefined;
      }
      const { id, matched = 0, sample = [], unit, plan } = last ?? {};
      if (id === undefined || plan === undefined || matched === 0) return undefined;
      return { matched, sample, plan: id, ...defined({ unit }) };
    },
    async *run(request, signal) {
      const record = await start(request);
      yield record;
      yield* followPurge(gateway, record.id, context, { cancelOn: signal });
    },
    detach: start,
    close: async () => {},
  };
}

/**
 * Yields the record of a purge whenever it changes, until the purge ends. A broken event stream is resumed after the last
 * event.
 *
 * @param cancelOn cancels the purge when it aborts; the last record then shows what was done
 * @param stopOn stops following when it aborts, and leaves the purge running
 */
export async function* followPurge(
  gateway: ApiClient,
  id: string,
  context: Following,
  { cancelOn, stopOn }: { readonly cancelOn?: AbortSignal; readonly stopOn?: AbortSignal },
): AsyncGenerator<PurgeView, void> {
  const purge = requireId(id);
  let cancelling: Promise<unknown> | undefined;
  const cancel = () => {
    cancelling ??= cancelPurge(gateway, id);
    // The promise is awaited at the end, where an error is thrown.
    cancelling.catch(() => undefined);
  };
  if (cancelOn?.aborted === true) cancel();
  cancelOn?.addEventListener('abort', cancel, { once: true });
  try {
    yield* followJob(
      {
        ask: (headers) =>
          gateway.request('get', '/purges/{purge}/events', { path: { purge }, headers, signal: stopOn }),
        read: (document) => readPurge(document as Purge),
        stopOn,
      },
      context.clock,
      `The purge ${id} continues there: ${commandText(`purges follow ${id}`, context)}`,
    );
  } finally {
    cancelOn?.removeEventListener('abort', cancel);
    await cancelling?.catch(() => undefined);
  }
  await cancelling;
}

/** Requests that a purge be cancelled. @returns its record after the request */
export async function cancelPurge(gateway: ApiClient, id: string): Promise<Purge> {
  return readPurge(await gateway.json('post', '/purges/{purge}/cancel', { path: { purge: requireId(id) } }));
}

/** Returns the id if it is well-formed; any other text could change the path of the request. */
export function requireId(id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw usage(`${JSON.stringify(id)} is not the id of a purge.`);
}
