import type { ArchivedEntity } from '../../archive/index.js';
import type { BrokerMemory, BrokerProblem } from '../broker/index.js';
import { portionsOf } from '../deleting/index.js';
import { entities, Lister, pagesUpTo } from '../listing/index.js';
import type { Requester } from '../requests/index.js';
import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';

/** Something that is to be there again: an entity, an attribute, or an instance of an attribute. */
export interface RestoreItem {
  /** Unlike that of any other item of the archive. */
  readonly key: string;
  readonly entityId: string;
  readonly attribute?: string;
  /** As archived. */
  readonly content: JsonValue;
  /** Its entity, with all that was archived of it. */
  readonly entity: ArchivedEntity;
  /** No query can show whether it is there. */
  readonly isHidden?: boolean;
}

/** What the broker said of an item that it was to create; `unclear`: nothing, or an error behind which it may have. */
export type CreateResult =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'unclear' | 'refused'; readonly problem: BrokerProblem };

/** How items of one kind are looked for and created. */
export interface RestoreKind {
  /** The items of an archived entity, in the same order each time. */
  itemsOf(id: string, entity: ArchivedEntity): readonly RestoreItem[];
  /**
   * What is there of some items now, by their keys: what the broker shows, to be compared.
   *
   * @param isWhole what is shown is compared; otherwise it is enough that it is there
   */
  shown(items: readonly RestoreItem[], isWhole: boolean): Promise<ReadonlyMap<string, JsonValue>>;
  /** Creates items that are not there, without overwriting anything. */
  create(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, CreateResult>>;
  /** Whether what is shown of an item says the same as the archive. */
  isSame(item: RestoreItem, shown: JsonValue): boolean;
}

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
