/** One server-sent event. */
export interface ServerSentEvent {
  /** The last one that the stream gave. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Characters of one event, those of comments and unknown fields included; a record has some ten thousand at most. */
const EVENT_MAX = 4 * 1024 * 1024;

/**
 * Reads server-sent events (HTML standard, § 9.2). Events without data, such as heartbeats, are left out, and so is an
 * unfinished event at the end of the stream.
 *
 * @param silentMs after which a stream without a byte counts as dead, e.g. because this machine slept
 * @param maxLength characters of one event, without the ends of its lines
 * @throws Error when it is dead, RangeError for an event that is too long or has no end, and what the stream fails with
 */
export async function* readEvents(
  bytes: ReadableStream<Uint8Array>,
  silentMs = Infinity,
  maxLength = EVENT_MAX,
): AsyncGenerator<ServerSentEvent, void> {
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  // Of the lines of this event that are no longer held, too.
  let length = 0;
  for await (const piece of piecesOf(bytes, silentMs)) {
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
  return new RangeError('An event of the stream has no end.');
}

/** The text of a stream as it comes. */
async function* piecesOf(bytes: ReadableStream<Uint8Array>, silentMs: number): AsyncGenerator<string, void> {
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), silentMs);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // A dead stream may never say that it is cancelled.
    void reader.cancel().catch(() => undefined);
  }
}

async function unlessSilent<Value>(read: Promise<Value>, silentMs: number): Promise<Value> {
  if (silentMs === Infinity) return read;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The stream of events gives no sign.')), silentMs);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}
