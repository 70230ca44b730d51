import { isFinal, linkHeader, PURGE_PATHS } from '../client/purges.js';
import type { Schemas } from '../client/operations.js';
import { UnreachableError } from '../client/errors.js';
import { readEvents } from '../client/events.js';
import { parsed, type ApiClient } from '../client/client.js';
import type { Clock } from '../shared/clock.js';
import { CliError, EXIT, usage, failure } from './exit-codes.js';
import { expected, gatewayFailure } from './gateway-answers.js';
import { headersOf, type PurgePlace, type PurgeRequest } from './purge-place.js';
import { readPurge, type PurgeView } from './purge-view.js';

type Purge = Schemas['Purge'];

/** Tries to go on with a stream of events that broke off, and the pause before each, in milliseconds. */
const RECONNECTS = 10;
const RECONNECT_MS = 1000;

/** Purges that a gateway does. */
export function createGatewayPlace(gateway: ApiClient, clock: Clock): PurgePlace {
  function bodyOf({ target, query, tenant, link, options }: PurgeRequest) {
    return {
      ...{ target, query, ...(tenant === undefined ? {} : { tenant }), ...options },
      ...(link === undefined ? {} : { link: linkHeader(link) }),
    };
  }

  async function start(request: PurgeRequest): Promise<Purge> {
    const body = request.plan === undefined ? bodyOf(request) : { plan: request.plan };
    try {
      return readPurge(await gateway.json('post', '/purges', { body }));
    } catch (error) {
      if (!(error instanceof UnreachableError && error.mayHaveArrived)) throw error;
      throw gatewayFailure(
        error,
        'The purge may still have been started. To check: ngsi-ld-gateway purges list',
      );
    }
  }

  return {
    async preview({ target, query, ...request }, signal) {
      // A dry run deletes nothing that could be recorded.
      const counted = query.split('&').filter((pair) => pair !== 'record=ids');
      const asked = { query: [...counted, 'dryRun=true'].join('&'), headers: headersOf(request), signal };
      const answer = (await gateway.json('delete', PURGE_PATHS[target], asked)) as Schemas['PurgePreview'];
      return expected(answer, 'a preview of a purge', { matched: 'number', sample: 'array' });
    },
    async plan(request, signal) {
      // A dry run takes no list of ids, and its plan would make none.
      if (request.query.split('&').includes('record=ids')) return undefined;
      let last: PurgeView | undefined;
      try {
        const body = { ...bodyOf(request), dryRun: true, plan: true as const };
        const record = readPurge(await gateway.json('post', '/purges', { body, signal }));
        for await (const view of followPurge(gateway, record.id, clock, { cancelOn: signal })) last = view;
      } catch (error) {
        if (signal.aborted) throw error;
        // The preview without a plan says what is wrong.
        return undefined;
      }
      const { id, matched = 0, sample = [], unit, plan } = last ?? {};
      if (id === undefined || plan === undefined || matched === 0) return undefined;
      return { matched, sample, plan: id, ...(unit === undefined ? {} : { unit }) };
    },
    async *run(request, signal) {
      const record = await start(request);
      yield record;
      yield* followPurge(gateway, record.id, clock, { cancelOn: signal });
    },
    detach: start,
    close: async () => {},
  };
}

/**
 * The record of a purge whenever it changes, until its end. A stream of events that breaks off is taken up again after the last
 * event.
 *
 * @param cancelOn cancels the purge when it aborts; the last record that is yielded then says what was done
 * @param stopOn stops following, and leaves the purge alone
 */
export async function* followPurge(
  gateway: ApiClient,
  id: string,
  clock: Clock,
  { cancelOn, stopOn }: { readonly cancelOn?: AbortSignal; readonly stopOn?: AbortSignal },
): AsyncGenerator<PurgeView, void> {
  const purge = demandId(id);
  let cancelling: Promise<unknown> | undefined;
  const cancel = () => {
    cancelling ??= cancelPurge(gateway, id);
    // It is waited for at the end.
    cancelling.catch(() => undefined);
  };
  if (cancelOn?.aborted === true) cancel();
  cancelOn?.addEventListener('abort', cancel, { once: true });
  try {
    let lastId: string | undefined;
    for (let failures = 0, isLast = false; !isLast;) {
      try {
        const seen = lastId === undefined ? {} : { 'last-event-id': lastId };
        const headers = { accept: 'text/event-stream', ...seen };
        const asked = { path: { purge }, headers, signal: stopOn };
        const { body } = await gateway.request('get', '/purges/{purge}/events', asked);
        for await (const event of body === null ? [] : readEvents(body)) {
          const record = readPurge(parsed(event.data) as Purge);
          failures = 0;
          lastId = event.id ?? lastId;
          yield record;
          isLast = isFinal(record);
          if (isLast) break;
        }
        if (!isLast) throw failure('The connection to the gateway ended before the purge did.');
      } catch (caught) {
        if (stopOn?.aborted === true) return;
        const error = gatewayFailure(caught);
        failures += 1;
        // What the gateway refuses to show may not be there.
        if (error instanceof CliError && error.exitCode !== EXIT.failed) throw error;
        if (failures > RECONNECTS) {
          const known =
            error instanceof CliError
              ? error
              : failure(`The connection to the gateway broke: ${String(error)}.`, { cause: error });
          throw gatewayFailure(known, `The purge ${id} continues there: ngsi-ld-gateway purges follow ${id}`);
        }
        await clock.sleep(RECONNECT_MS, stopOn).catch(() => undefined);
      }
    }
  } finally {
    cancelOn?.removeEventListener('abort', cancel);
    await cancelling?.catch(() => undefined);
  }
  await cancelling;
}

/** Asks for a purge to be cancelled. @returns its record then */
export async function cancelPurge(gateway: ApiClient, id: string): Promise<Purge> {
  return readPurge(await gateway.json('post', '/purges/{purge}/cancel', { path: { purge: demandId(id) } }));
}

/** The id of a purge: a wrong one would be another path. @throws CliError */
export function demandId(id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw usage(`${JSON.stringify(id)} is not the id of a purge.`);
}
