/** One server-sent event. */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Characters of one event; a record has some ten thousand at most. */
const EVENT_MAX = 4 * 1024 * 1024;

/**
 * Reads server-sent events (HTML standard, § 9.2) off a stream of text in pieces. Events without data, such as heartbeats, are
 * left out, and so is an unfinished event at the end of the stream.
 *
 * @throws RangeError for an event without an end
 */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<ServerSentEvent, void> {
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  for await (const piece of pieces) {
    rest += piece;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { id, data: data.join('\n') };
        data = [];
        continue;
      }
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === 'data') data.push(value);
      if (name === 'id') id = value;
    }
    if (rest.length + data.reduce((sum, line) => sum + line.length, 0) > EVENT_MAX)
      throw new RangeError('A server-sent event has no end.');
  }
}
