import type { ArchivedEntity } from '../../archive/index.js';
import type { BrokerProblem } from '../broker/index.js';
import type { JsonValue } from '../../shared/json/json.js';

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
