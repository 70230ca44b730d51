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

export function createDispatcher<Item>(options: DispatcherOptions<Item>): Dispatcher<Item> {
  const { concurrency, chunkSize, run, bytesOf, chunkBytesMax = Infinity } = options;
  const limit = pLimit(concurrency());
  let queue: Item[] = [];
  /** Index of the queue's head: slicing it off for each chunk would copy the rest every time. */
  let head = 0;
  let underWay = 0;
  let failure: { readonly error: unknown } | undefined;
  let isFlushing = false;
  let changed = deferred();

  /** Runs a chunk unless one has failed; a failure is noted before the limiter can start another chunk. */
  async function runChunk(chunk: readonly Item[]): Promise<readonly Item[]> {
    if (failure !== undefined) return [];
    try {
      return await run(chunk);
    } catch (error) {
      failure ??= { error };
      return [];
    }
  }

  function start(chunk: readonly Item[]): void {
    underWay += chunk.length;
    void limit(async () => runChunk(chunk)).then((again) => {
      for (const item of again) queue.push(item);
      underWay -= chunk.length;
      startChunks();
      changed.resolve();
      changed = deferred();
    });
  }

  const queued = () => queue.length - head;

  function drop(): void {
    queue = [];
    head = 0;
  }

  /** Starts chunks from the queue's head while there is room: full ones, or all of them when flushing. */
  function startChunks(): void {
    if (failure !== undefined) drop();
    limit.concurrency = concurrency();
    // A chunk is formed only when it can run, by the chunk size of that moment.
    while (queued() > 0 && limit.activeCount + limit.pendingCount < limit.concurrency) {
      const to = endOfChunk(head);
      const isFull = to < queue.length || to - head >= chunkSize();
      if (!isFull && !isFlushing) break;
      const chunk = queue.slice(head, to);
      head = to;
      start(chunk);
    }
    if (head * 2 >= queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    if (queued() === 0) isFlushing = false;
  }

  function flush(): void {
    isFlushing = true;
    startChunks();
  }

  function endOfChunk(from: number): number {
    const most = Math.min(queue.length, from + Math.max(1, chunkSize()));
    if (bytesOf === undefined) return most;
    let bytes = 0;
    for (let to = from; to < most; to++) {
      bytes += bytesOf(queue[to] as Item);
      if (bytes > chunkBytesMax && to > from) return to;
    }
    return most;
  }

  function throwFailure(): void {
    if (failure !== undefined) throw failure.error;
  }

  return {
    add(items) {
      for (const item of items) queue.push(item);
      startChunks();
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
