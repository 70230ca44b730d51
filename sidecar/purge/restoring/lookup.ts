import type { BrokerMemory } from '../broker/index.js';
import { entities, Lister } from '../listing/index.js';
import type { Requester } from '../requests/index.js';
import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonObject } from '../../shared/json/json.js';
import { isAskable } from '../query/index.js';
import type { RestoreItem } from './item.js';

/** Ids in one query, and what they may take of its URL. */
const MAX_IDS = 100;
const MAX_IDS_CHARS = 4000;

export interface LookupOptions {
  readonly requester: Requester;
  readonly capabilities: BrokerMemory;
  readonly clock: Pick<Clock, 'now'>;
}

/** Looks for entities by their ids. */
export class Lookup {
  readonly #listers: { readonly ids: Lister; readonly whole: Lister };

  constructor(options: LookupOptions) {
    const lister = (content: 'ids' | 'whole') =>
      new Lister({ ...options, pageSize: MAX_IDS, pageSizeMax: MAX_IDS, resource: entities(content) });
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
    for (const { ids, types } of portionsOf(items)) {
      // Brokers want a type beside ids (clause 5.7.2.4).
      const type = types.size === 0 ? [] : [{ name: 'type', value: [...types].join(',') }];
      const selection = [...type, { name: 'id', value: [...ids].join(',') }];
      for (let offset = 0; offset < ids.size;) {
        const page = await lister.page({ selection, offset, limit: ids.size });
        for (const [index, id] of page.ids.entries()) {
          const entity = page.entities[index];
          if (ids.has(id) && isObject(entity)) found.set(id, entity);
        }
        if (page.ids.length === 0 || found.size >= items.length) break;
        offset += page.ids.length;
      }
    }
    return found;
  }
}

interface Portion {
  readonly ids: Set<string>;
  readonly types: Set<string>;
}

function* portionsOf(items: readonly RestoreItem[]): Iterable<Portion> {
  let portion: Portion = { ids: new Set(), types: new Set() };
  let chars = 0;
  for (const { entityId, entity } of items) {
    if (!isAskable(entityId) || portion.ids.has(entityId)) continue;
    const more = encodeURIComponent(entityId).length;
    if (portion.ids.size === MAX_IDS || (chars + more > MAX_IDS_CHARS && portion.ids.size > 0)) {
      yield portion;
      [portion, chars] = [{ ids: new Set(), types: new Set() }, 0];
    }
    portion.ids.add(entityId);
    for (const type of [entity['type']].flat()) if (typeof type === 'string') portion.types.add(type);
    chars += more;
  }
  if (portion.ids.size > 0) yield portion;
}
