/**
 * Chunks from here on are kept as they are. Smaller ones are copied together: a chunk of one byte would take hundreds of bytes
 * by itself, and a peer decides how small its chunks are.
 */
const MIN_PIECE_BYTES = 1024;

/** Most bodies of small chunks fit into the first block. */
const FIRST_BLOCK_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/** Collects the chunks of a body, in about as much memory as the body has bytes. */
export class ByteCollector {
  readonly #pieces: Buffer[] = [];
  /** The block that small chunks are copied to; `#filled` bytes of it are not yet among the pieces. */
  #block = Buffer.alloc(0);
  #filled = 0;
  #length = 0;

  /** The number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** @param chunk may be used again by its owner only if it is smaller than a kilobyte */
  add(chunk: Buffer): void {
    this.#length += chunk.length;
    if (chunk.length >= MIN_PIECE_BYTES) {
      this.#closePiece();
      this.#pieces.push(chunk);
      return;
    }
    if (this.#filled + chunk.length > this.#block.length) {
      this.#closePiece();
      this.#block = Buffer.allocUnsafeSlow(this.#pieces.length === 0 ? FIRST_BLOCK_BYTES : BLOCK_BYTES);
    }
    this.#filled += chunk.copy(this.#block, this.#filled);
  }

  /** Returns all bytes so far. */
  concat(): Buffer {
    this.#closePiece();
    return Buffer.concat(this.#pieces, this.#length);
  }

  #closePiece(): void {
    if (this.#filled === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}
