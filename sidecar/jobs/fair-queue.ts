/** What waits, by whom it is for: those for whom something waits take turns, each in the order of arrival. */
export class FairQueue<Item> {
  /** In the order of the turns. */
  readonly #queues = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(owner: string, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, [item]);
    else queue.push(item);
    this.#size += 1;
  }

  /** The next item that may be taken now; the turn passes to the next owner. */
  take(mayTake: (item: Item) => boolean = () => true): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      const at = queue.findIndex(mayTake);
      if (at === -1) continue;
      const [item] = queue.splice(at, 1);
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes out one item. @returns whether it waited */
  remove(isMeant: (item: Item) => boolean): boolean {
    for (const [owner, queue] of this.#queues) {
      const at = queue.findIndex(isMeant);
      if (at === -1) continue;
      queue.splice(at, 1);
      if (queue.length === 0) this.#queues.delete(owner);
      this.#size -= 1;
      return true;
    }
    return false;
  }
}
