export interface DispatcherOptions<Item> {
  /** Returns the maximum number of chunks that may be in flight now. */
  readonly concurrency: () => number;
  /** Returns where a chunk ends now that begins at an index of the queue. It has at least one item. @default one item */
  readonly endOfChunk?: ((queue: readonly Item[], from: number) => number) | undefined;
  /** Handles one chunk; the items it returns are queued again. */
  readonly run: (chunk: readonly Item[]) => Promise<readonly Item[]>;
}

/**
 * Runs deletes with bounded concurrency while the caller goes on listing. A chunk is formed when it can start, with the chunk
 * size of that moment.
 */
export class Dispatcher<Item> {
  readonly #options: DispatcherOptions<Item>;
  #queue: Item[] = [];
  /** Index of the queue's head: slicing it off for each chunk would copy the rest every time. */
  #head = 0;
  /** Chunks in flight, and the items in them. */
  #chunks = 0;
  #underWay = 0;
  #failure: { readonly error: unknown } | undefined;
  /** Resolves when a chunk has ended. */
  #change = Promise.withResolvers<undefined>();

  constructor(options: DispatcherOptions<Item>) {
    this.#options = options;
  }

  /** Items queued or in flight. */
  get pending(): number {
    return this.#queue.length - this.#head + this.#underWay;
  }

  /** Queues items; they start as soon as there is room. */
  add(items: readonly Item[]): void {
    if (this.#failure !== undefined) return;
    for (const item of items) this.#queue.push(item);
    while (this.#head < this.#queue.length && this.#chunks < this.#options.concurrency())
      void this.#run(this.#takeChunk());
  }

  /** Resolves when fewer than `below` items are pending: by default none. @throws the first error of a chunk, at once */
  async settled(below = 1): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.pending < below) return;
      await this.#change.promise;
    }
  }

  /** Drops the queued items and waits for those in flight; never throws. */
  async abandon(): Promise<void> {
    this.#fail(new Error('abandoned'));
    while (this.#underWay > 0) await this.#change.promise;
  }

  /** Runs a chunk; never throws. */
  async #run(chunk: readonly Item[]): Promise<void> {
    this.#chunks += 1;
    this.#underWay += chunk.length;
    let again: readonly Item[] = [];
    try {
      again = await this.#options.run(chunk);
    } catch (error) {
      this.#fail(error);
    }
    this.#chunks -= 1;
    this.#underWay -= chunk.length;
    this.add(again);
    this.#change.resolve(undefined);
    this.#change = Promise.withResolvers();
  }

  #takeChunk(): readonly Item[] {
    const end = this.#options.endOfChunk?.(this.#queue, this.#head) ?? 0;
    const chunk = this.#queue.slice(this.#head, Math.max(end, this.#head + 1));
    this.#head += chunk.length;
    if (this.#head * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return chunk;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#queue = [];
    this.#head = 0;
  }
}
