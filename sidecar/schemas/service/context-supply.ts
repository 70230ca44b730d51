import type { Supply } from '../json-ld/supplied.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { SchemaStore } from '../store/store.js';
import type { Clock } from '../../shared/clock.js';
import { BoundedCache } from './bounded-cache.js';
import type { ContextLoading } from './context-loading.js';
import { fetchContext } from './remote-context.js';

/** Gives workers the contexts that documents name by their URLs. */
export interface ContextSupply {
  /**
   * A text that changes whenever a URL may mean something else: with each write to the store, by whatever process, and
   * every minute for the sake of other origins. To be taken before anything is supplied for a request.
   *
   * @param baseUrl of this service, as the client reaches it, without a trailing slash
   * @throws StoreUnavailableError
   */
  stamp(baseUrl: string): Promise<string>;

  /**
   * The context of a URL: one that is stored or bundled here, in the version that is named, or one of an allowed origin.
   *
   * @throws StoreUnavailableError
   */
  supply(url: string, baseUrl: string): Promise<Supply>;
}

export interface ContextSupplyOptions {
  readonly loading: ContextLoading;
  readonly store: Pick<SchemaStore, 'revision'>;
  readonly remote: RemoteDocuments;
  readonly clock: Clock;
}

/** How long documents of other origins are used without a look at what they are now, at most. */
const FRESH_MS = 60_000;

const MOST_REMOTE_CHARACTERS = 16 * 1024 * 1024;

export function createContextSupply({ loading, store, remote, clock }: ContextSupplyOptions): ContextSupply {
  const fetched = new BoundedCache<Supply>(MOST_REMOTE_CHARACTERS, (supply) =>
    'text' in supply ? supply.text.length : 0,
  );
  const slot = () => Math.floor(clock.now() / FRESH_MS);

  async function fetch(url: string): Promise<Supply> {
    try {
      return await fetched.getOrMake(`${slot()} ${url}`, async () => {
        const supply = await fetchContext(remote, url);
        if ('failure' in supply) throw new NotFetched(supply);
        return supply;
      });
    } catch (error) {
      if (error instanceof NotFetched) return error.supply;
      throw error;
    }
  }

  return {
    stamp: async (baseUrl) => {
      const base = loading.dependsOn(baseUrl) ? ` ${baseUrl}` : '';
      return `${await store.revision()} ${slot()}${base}`;
    },
    supply: (url, baseUrl) => loading.supply(url, baseUrl, fetch),
  };
}

/** Carries a failure past the cache, which keeps what does not throw. */
class NotFetched extends Error {
  constructor(readonly supply: Supply) {
    super('The context could not be fetched.');
  }
}
