import pLimit from 'p-limit';
import type { ArchivedEntity } from '../../archive/index.js';
import type { BrokerCapabilities, BrokerProblem } from '../broker/index.js';
import { pagesById, portionsOf } from '../deleting/index.js';
import { entities, entitiesIn, Lister } from '../listing/index.js';
import type { Requester } from '../requests/index.js';
import type { PurgeLimits } from '../run/index.js';
import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';

/** An item to restore: an entity, an attribute, or an instance of an attribute. */
export interface RestoreItem {
  /** Unique among the items of the archive. */
  readonly key: string;
  readonly entityId: string;
  readonly attribute?: string;
  /** The item as archived. */
  readonly content: JsonValue;
  /** The entity of the item, with everything that was archived of it. */
  readonly entity: ArchivedEntity;
  /** No query can show whether the item exists. */
  readonly isHidden?: boolean;
}

/**
 * The broker's answer about an item to create. `unclear`: there was no answer, or an error after which the item may exist all
 * the same.
 */
export type CreateResult =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'unclear' | 'refused'; readonly problem: BrokerProblem };

/** How to look up and create items of one kind. */
export interface RestoreKind {
  /** Returns the items of an archived entity, in the same order each time. */
  itemsOf(id: string, entity: ArchivedEntity): readonly RestoreItem[];
  /**
   * Looks up some items. Returns what the broker shows of those that exist, by their keys.
   *
   * @param isWhole the result will be compared with the archive; otherwise it only matters which items exist
   */
  shown(items: readonly RestoreItem[], isWhole: boolean): Promise<ReadonlyMap<string, JsonValue>>;
  /** Returns why an item cannot be created, as the last lookup showed; for example, the broker refused to say whether it exists. */
  refusalOf?(item: RestoreItem): BrokerProblem | undefined;
  /** Creates items that do not exist, without overwriting anything. */
  create(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, CreateResult>>;
  /** Whether an item, as the broker shows it, equals the archived one. */
  isSame(item: RestoreItem, shown: JsonValue): boolean;
}

/** Entities in one page: as many as one query names. */
const PAGE_SIZE = 100;

export interface RestoreTools {
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** `concurrency` is the maximum number of requests in flight; it can change while the restore runs. */
  readonly limits: Pick<PurgeLimits, 'concurrency'>;
}

/** Looks for entities by their ids. */
export class Lookup {
  readonly #listers: { readonly ids: Lister; readonly whole: Lister };
  readonly #limits: RestoreTools['limits'];

  constructor(options: RestoreTools) {
    this.#limits = options.limits;
    const limits = { pageSize: PAGE_SIZE, pageSizeMax: PAGE_SIZE };
    const lister = (content: 'ids' | 'whole') =>
      new Lister({ ...options, limits, resource: entities(content) });
    this.#listers = { ids: lister('ids'), whole: lister('whole') };
  }

  /**
   * Returns the existing entities of some items, by id.
   *
   * @param isWhole with their attributes; otherwise perhaps only their ids
   * @throws as Lister.page()
   */
  async shown(items: readonly RestoreItem[], isWhole: boolean): Promise<ReadonlyMap<string, JsonObject>> {
    const lister = isWhole ? this.#listers.whole : this.#listers.ids;
    const found = new Map<string, JsonObject>();
    const ids = new Set(items.map(({ entityId }) => entityId));
    const typeOf = ({ entity }: RestoreItem) => entity['type'];
    // One query is for one type.
    const byType = [...Map.groupBy(items, (item) => JSON.stringify(typeOf(item))).values()].flat();
    await pLimit(this.#limits.concurrency).map(portionsOf(byType), async (portion) => {
      for await (const page of pagesById(lister, portion, typeOf))
        for (const [index, id] of page.ids.entries()) {
          const entity = entitiesIn(page)[index];
          if (ids.has(id) && isObject(entity)) found.set(id, entity);
        }
    });
    return found;
  }
}
