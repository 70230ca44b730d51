/** Reads several sources at a time, each in its own order, and yields what comes as it comes. */
export async function* interleave<Value>(
  sources: Iterable<AsyncGenerator<Value, void>>,
  concurrency: number,
): AsyncGenerator<Value, void> {
  type Step = { readonly source: AsyncGenerator<Value, void>; readonly result: IteratorResult<Value, void> };
  const waiting = sources[Symbol.iterator]();
  const running = new Map<AsyncGenerator<Value, void>, Promise<Step>>();
  const read = (source: AsyncGenerator<Value, void>) => {
    running.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  const startNext = () => {
    const next = waiting.next();
    if (next.done !== true) read(next.value);
  };
  for (let slot = 0; slot < concurrency; slot++) startNext();
  while (running.size > 0) {
    const { source, result } = await Promise.race(running.values());
    running.delete(source);
    if (result.done === true) {
      startNext();
      continue;
    }
    yield result.value;
    read(source);
  }
}
