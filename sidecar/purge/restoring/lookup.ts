import type { BrokerMemory } from '../broker/index.js';
import { portionsOf } from '../deleting/index.js';
import { entities, Lister, pagesUpTo } from '../listing/index.js';
import type { Requester } from '../requests/index.js';
import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonObject } from '../../shared/json/json.js';
import type { RestoreItem } from './item.js';

/** Entities in one page: as many as one query asks for. */
const PAGE_SIZE = 100;

/** What a restore asks the broker with. */
export interface RestoreTools {
  readonly requester: Requester;
  readonly capabilities: BrokerMemory;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Requests in flight. */
  readonly concurrency: number;
}

/** Looks for entities by their ids. */
export class Lookup {
  readonly #listers: { readonly ids: Lister; readonly whole: Lister };

  constructor(options: RestoreTools) {
    const lister = (content: 'ids' | 'whole') =>
      new Lister({ ...options, pageSize: PAGE_SIZE, pageSizeMax: PAGE_SIZE, resource: entities(content) });
    this.#listers = { ids: lister('ids'), whole: lister('whole') };
  }

  /**
   * The entities of some items that are there.
   *
   * @param isWhole with their attributes; otherwise perhaps only their ids
   * @throws as Lister.page()
   */
  async shown(items: readonly RestoreItem[], isWhole: boolean): Promise<ReadonlyMap<string, JsonObject>> {
    const lister = isWhole ? this.#listers.whole : this.#listers.ids;
    const found = new Map<string, JsonObject>();
    for (const portion of portionsOf(items)) {
      const ids = new Set(portion.map(({ entityId }) => entityId));
      const named = portion.flatMap(({ entity }) => [entity['type']].flat());
      const types = new Set(named.filter((type) => typeof type === 'string'));
      // Brokers want a type beside ids (clause 5.7.2.4).
      const type = types.size === 0 ? [] : [{ name: 'type', value: [...types].join(',') }];
      const selection = [...type, { name: 'id', value: [...ids].join(',') }];
      for await (const page of pagesUpTo(lister, selection, ids.size)) {
        for (const [index, id] of page.ids.entries()) {
          const entity = page.entities[index];
          if (ids.has(id) && isObject(entity)) found.set(id, entity);
        }
        if (found.size >= items.length) break;
      }
    }
    return found;
  }
}
