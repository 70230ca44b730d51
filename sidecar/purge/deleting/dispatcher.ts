import pLimit from 'p-limit';

/** Runs deletes with bounded concurrency while the caller goes on listing. */
export interface Dispatcher<Item> {
  /** Queues items; whole chunks start as soon as there is room. */
  add(items: readonly Item[]): void;
  /** Starts all queued items, even if they do not fill a chunk. */
  flush(): void;
  /** Items queued or in flight. */
  readonly pending: number;
  /** Resolves when fewer than `most` items are pending; flushes when nothing is in flight. */
  room(most: number): Promise<void>;
  /** Flushes, and resolves when nothing is pending. @throws the first error of a chunk, at once */
  settled(): Promise<void>;
  /** Drops the queued items and waits for those in flight; never throws. */
  abandon(): Promise<void>;
}

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
 * Every chunk runs in a turn of one limiter, which bounds how many run at once. At most one turn waits there: it takes its
 * chunk when it starts, by the chunk size of that moment, and asks for the turn after it.
 */
export function createDispatcher<Item>(options: DispatcherOptions<Item>): Dispatcher<Item> {
  const { concurrency, chunkSize, run, bytesOf, chunkBytesMax = Infinity } = options;
  const limit = pLimit(concurrency());
  let queue: Item[] = [];
  /** Index of the queue's head: slicing it off for each chunk would copy the rest every time. */
  let head = 0;
  let underWay = 0;
  let isTurnWaiting = false;
  let isFlushing = false;
  let failure: { readonly error: unknown } | undefined;
  let changed = deferred();

  function askForTurn(): void {
    if (failure !== undefined) drop();
    limit.concurrency = concurrency();
    if (isTurnWaiting || !hasChunk()) return;
    isTurnWaiting = true;
    void limit(takeTurn);
  }

  /** Runs the next chunk; never throws. */
  async function takeTurn(): Promise<void> {
    isTurnWaiting = false;
    const chunk = takeChunk();
    underWay += chunk.length;
    askForTurn();
    try {
      if (chunk.length > 0) for (const item of await run(chunk)) queue.push(item);
    } catch (error) {
      failure ??= { error };
    }
    underWay -= chunk.length;
    askForTurn();
    changed.resolve();
    changed = deferred();
  }

  const queued = () => queue.length - head;

  function drop(): void {
    queue = [];
    head = 0;
  }

  function flush(): void {
    isFlushing = true;
    askForTurn();
  }

  function takeChunk(): readonly Item[] {
    if (!hasChunk()) return [];
    const to = endOfChunk();
    const chunk = queue.slice(head, to);
    head = to;
    if (head * 2 >= queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    if (queued() === 0) isFlushing = false;
    return chunk;
  }

  /** Whether a chunk may run now: a full one, or any when flushing. */
  function hasChunk(): boolean {
    if (queued() === 0) return false;
    return isFlushing || queued() >= chunkSize() || endOfChunk() < queue.length;
  }

  function endOfChunk(): number {
    const most = Math.min(queue.length, head + Math.max(1, chunkSize()));
    if (bytesOf === undefined) return most;
    let bytes = 0;
    for (let to = head; to < most; to++) {
      bytes += bytesOf(queue[to] as Item);
      if (bytes > chunkBytesMax && to > head) return to;
    }
    return most;
  }

  function throwFailure(): void {
    if (failure !== undefined) throw failure.error;
  }

  return {
    add(items) {
      for (const item of items) queue.push(item);
      askForTurn();
    },
    flush,
    get pending() {
      return queued() + underWay;
    },
    async room(most) {
      for (;;) {
        throwFailure();
        if (queued() + underWay < most) return;
        if (underWay === 0) flush();
        await changed.promise;
      }
    },
    async settled() {
      for (;;) {
        throwFailure();
        flush();
        if (underWay === 0 && queued() === 0) return;
        await changed.promise;
      }
    },
    async abandon() {
      failure ??= { error: new Error('abandoned') };
      drop();
      while (underWay > 0) await changed.promise;
    },
  };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
