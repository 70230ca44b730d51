import { IncomingMessage } from 'node:http';
import { TurnQueue } from '../shared/event-loop.js';

/** After so many chunks of a body, other connections have their turn. */
const MAX_CHUNKS = 256;

/**
 * Requests whose body has many small chunks read on one after the other, each in a turn of the event loop: Node.js reads
 * up to 2 MiB of a connection at once, and with chunks of one byte that takes a second.
 */
const turns = new TurnQueue();

/** A request that lets others go first if its body has very many chunks. For the option `IncomingMessage` of a server. */
export class PacedRequest extends IncomingMessage {
  #chunks = 0;
  /** Whether its reader asked for more while others have their turn. */
  #isReadLater = false;

  /** @returns false if Node.js must read no more of the connection for now */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const wantsMore = super.push(chunk, encoding);
    this.#chunks += 1;
    if (this.#chunks < MAX_CHUNKS) return wantsMore;
    if (this.#chunks === MAX_CHUNKS) void turns.nextTurn().then(() => this.#readOn());
    return false;
  }

  override _read(size: number): void {
    if (this.#chunks < MAX_CHUNKS) super._read(size);
    else this.#isReadLater = true;
  }

  #readOn(): void {
    this.#chunks = 0;
    if (!this.#isReadLater) return;
    this.#isReadLater = false;
    if (!this.destroyed && !this.complete) super._read(0);
  }
}
