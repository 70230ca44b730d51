/** One server-sent event. */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Characters of one event, those of comments and unknown fields included; a record has some ten thousand at most. */
const EVENT_MAX = 4 * 1024 * 1024;

/**
 * Reads server-sent events (HTML standard, § 9.2) off a stream of text in pieces. Events without data, such as heartbeats, are
 * left out, and so is an unfinished event at the end of the stream.
 *
 * @param maxLength characters of one event, without the ends of its lines
 * @throws RangeError for an event that is too long, or has no end
 */
export async function* readEvents(
  pieces: AsyncIterable<string>,
  maxLength = EVENT_MAX,
): AsyncGenerator<ServerSentEvent, void> {
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  // Of the lines of this event that are no longer held, too.
  let length = 0;
  for await (const piece of pieces) {
    rest += piece;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
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
  return new RangeError('A server-sent event has no end.');
}
