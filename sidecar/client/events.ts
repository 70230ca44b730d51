export interface ServerSentEvent {
  /** The last id that the stream has sent. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Maximum number of characters in one event, including comments and unknown fields. A record has at most some ten thousand. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;

/**
 * Reads server-sent events (HTML standard, § 9.2). Skips events without data, such as heartbeats, and an unfinished event at
 * the end of the stream.
 *
 * @param silentMs a stream that sends no byte for this long counts as dead, for example because this machine slept
 * @param maxLength maximum number of characters in one event, without line ends
 * @throws Error if the stream is dead, RangeError for an event that is too long or has no end, and any error of the stream
 */
export async function* readEvents(
  bytes: ReadableStream<Uint8Array>,
  silentMs = Infinity,
  maxLength = MAX_EVENT_CHARACTERS,
): AsyncGenerator<ServerSentEvent, void> {
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  // Length of this event so far, including lines that are no longer held.
  let length = 0;
  for await (const piece of decodeChunks(bytes, silentMs)) {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { id, data: data.join('\n') };
        data = [];
        length = 0;
        continue;
      }
      length += line.length;
      if (length > maxLength) throw tooLong();
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === 'data') data.push(value);
      if (name === 'id') id = value;
    }
    if (length + rest.length > maxLength) throw tooLong();
  }
}

function tooLong(): RangeError {
  return new RangeError('An event in the stream is too long.');
}

/** Decodes a stream as its bytes arrive. */
async function* decodeChunks(
  bytes: ReadableStream<Uint8Array>,
  silentMs: number,
): AsyncGenerator<string, void> {
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await readWithTimeout(reader.read(), silentMs);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // The cancellation of a dead stream may never complete.
    void reader.cancel().catch(() => undefined);
  }
}

async function readWithTimeout<Value>(read: Promise<Value>, silentMs: number): Promise<Value> {
  if (silentMs === Infinity) return read;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The event stream sends nothing.')), silentMs);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}
