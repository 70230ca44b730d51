/** Server-sent events of an answer (the HTML standard, § 9.2), as far as the gateway sends them. */

/** Characters of one event, those of comments and unknown fields included; a record has some ten thousand at most. */
const EVENT_MAX = 4 * 1024 * 1024;

/**
 * The data of each event.
 *
 * @param silentMs after which a stream without a byte counts as dead, e.g. because this machine slept
 * @param maxLength characters of one event, with the ends of the lines between
 * @throws Error when it is dead, RangeError for an event that is too long or has no end, and what the stream fails with
 */
export async function* eventsOf(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  silentMs: number,
  maxLength = EVENT_MAX,
): AsyncGenerator<string, void> {
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), silentMs);
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        requireShort(part, maxLength);
        const lines = part.split('\n').filter((line) => line.startsWith('data:'));
        if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join('\n');
      }
      requireShort(text, maxLength);
    }
  } finally {
    // A dead stream may never say that it is cancelled.
    void reader.cancel().catch(() => undefined);
  }
}

function requireShort(event: string, maxLength: number): void {
  // The end of its last line may be the first half of what ends it.
  const length = event.endsWith('\n') ? event.length - 1 : event.length;
  if (length > maxLength) throw new RangeError('An event of the stream has no end.');
}

async function unlessSilent<Value>(read: Promise<Value>, silentMs: number): Promise<Value> {
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
