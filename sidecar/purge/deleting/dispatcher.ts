export interface DispatcherOptions<Item> {
  /** Most chunks in flight, as of now. */
  readonly concurrency: () => number;
  /** Most items in one chunk, as of now. */
  readonly chunkSize: () => number;
  /** Size of an item towards chunkBytesMax. */
  readonly bytesOf?: (item: Item) => number;
  readonly chunkBytesMax?: number;
  /** Handles one chunk; the items it returns are queued again. */
  readonly run: (chunk: readonly Item[]) => Promise<readonly Item[]>;
}

/**
 * Runs deletes with bounded concurrency while the caller goes on listing. A chunk is formed when it can start, by the chunk size
 * of that moment.
 */
export class Dispatcher<Item> {
  readonly #options: DispatcherOptions<Item>;
  #queue: Item[] = [];
  /** Index of the queue's head: slicing it off for each chunk would copy the rest every time. */
  #head = 0;
  /** Chunks in flight, and the items in them. */
  #chunks = 0;
  #underWay = 0;
  #isFlushing = false;
  #failure: { readonly error: unknown } | undefined;
  #noteChange: () => void = () => {};
  #changed = this.#nextChange();

  constructor(options: DispatcherOptions<Item>) {
    this.#options = options;
  }

  /** Items queued or in flight. */
  get pending(): number {
    return this.#queue.length - this.#head + this.#underWay;
  }

  /** Queues items; whole chunks start as soon as there is room. */
  add(items: readonly Item[]): void {
    for (const item of items) this.#queue.push(item);
    this.#start();
  }

  /** Starts all queued items, even if they do not fill a chunk. */
  flush(): void {
    this.#isFlushing = true;
    this.#start();
  }

  /** Resolves when fewer than `most` items are pending; flushes when nothing is in flight. @throws as settled() */
  async room(most: number): Promise<void> {
    for (;;) {
      this.#throwFailure();
      if (this.pending < most) return;
      if (this.#underWay === 0) this.flush();
      await this.#changed;
    }
  }

  /** Flushes, and resolves when nothing is pending. @throws the first error of a chunk, at once */
  async settled(): Promise<void> {
    for (;;) {
      this.#throwFailure();
      this.flush();
      if (this.pending === 0) return;
      await this.#changed;
    }
  }

  /** Drops the queued items and waits for those in flight; never throws. */
  async abandon(): Promise<void> {
    this.#failure ??= { error: new Error('abandoned') };
    this.#drop();
    while (this.#underWay > 0) await this.#changed;
  }

  /** Starts what may run now. */
  #start(): void {
    if (this.#failure !== undefined) this.#drop();
    while (this.#chunks < this.#options.concurrency() && this.#hasChunk()) void this.#run(this.#takeChunk());
  }

  /** Runs a chunk; never throws. */
  async #run(chunk: readonly Item[]): Promise<void> {
    this.#chunks += 1;
    this.#underWay += chunk.length;
    try {
      for (const item of await this.#options.run(chunk)) this.#queue.push(item);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#chunks -= 1;
    this.#underWay -= chunk.length;
    this.#start();
    this.#noteChange();
    this.#changed = this.#nextChange();
  }

  async #nextChange(): Promise<void> {
    await new Promise<void>((resolve) => (this.#noteChange = resolve));
  }

  #takeChunk(): readonly Item[] {
    const to = this.#endOfChunk();
    const chunk = this.#queue.slice(this.#head, to);
    this.#head = to;
    if (this.#head * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    if (this.#head === this.#queue.length) this.#isFlushing = false;
    return chunk;
  }

  /** Whether a chunk may run now: a full one, or any when flushing. */
  #hasChunk(): boolean {
    const queued = this.#queue.length - this.#head;
    if (queued === 0) return false;
    return this.#isFlushing || queued >= this.#options.chunkSize() || this.#endOfChunk() < this.#queue.length;
  }

  #endOfChunk(): number {
    const { chunkSize, bytesOf, chunkBytesMax = Infinity } = this.#options;
    const most = Math.min(this.#queue.length, this.#head + Math.max(1, chunkSize()));
    if (bytesOf === undefined) return most;
    let bytes = 0;
    for (let to = this.#head; to < most; to++) {
      bytes += bytesOf(this.#queue[to] as Item);
      if (bytes > chunkBytesMax && to > this.#head) return to;
    }
    return most;
  }

  #drop(): void {
    this.#queue = [];
    this.#head = 0;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
