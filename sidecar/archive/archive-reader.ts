import { nextTurn } from '../shared/next-turn.js';
import { writeJson } from '../shared/json/lossless-json.js';
import type { ArchiveCipher } from './cipher.js';
import { DigestTable } from './digest-table.js';
import { ArchiveUnreadableError } from './errors.js';
import { mergeLines, readLine, type ArchivedEntity } from './lines.js';
import { segmentPlace, unpackLines } from './segment.js';
import type { ArchiveStorage } from './storage.js';

export interface ArchiveReaderOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  readonly folder: string;
  /** Whether it holds histories: then an attribute may have several instances of one dataset. */
  readonly isTemporal: boolean;
}

/** Lines of entities with several that are held until the last of them, in characters; the others come in another pass. */
const MAX_HELD_CHARS = 32 * 1024 * 1024;

/** Lines that are read in one turn of the event loop. */
const LINES_A_TURN = 200;

/** Reads the archive of one purge. Every segment is checked as a whole before anything of it is used. */
export class ArchiveReader {
  readonly #options: ArchiveReaderOptions;
  #bytesRead = 0;

  constructor(options: ArchiveReaderOptions) {
    this.#options = options;
  }

  /** The names of the segments, oldest first; none where there is no archive. @throws ArchiveUnavailableError */
  async segments(): Promise<readonly string[]> {
    const { storage, folder } = this.#options;
    const found = (await storage.list(folder)).flatMap((name) => {
      const place = segmentPlace(name.slice(folder.length + 1));
      return place === undefined ? [] : [{ name, ...place }];
    });
    const inOrder = found.sort((one, other) => one.epoch - other.epoch || one.number - other.number);
    return inOrder.map(({ name }) => name);
  }

  /** Bytes of the segments that were read, as they are stored. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /**
   * All lines, as they were written.
   *
   * @throws ArchiveUnavailableError, ArchiveUnreadableError
   */
  async *lines(): AsyncGenerator<string, void> {
    const { storage, cipher } = this.#options;
    for (const name of await this.segments()) {
      const bytes = await storage.get(name);
      if (bytes === undefined) throw new ArchiveUnreadableError('The archive was erased while it was read.');
      this.#bytesRead += bytes.length;
      let read = 0;
      for (const line of await unpackLines(await cipher.decrypt(bytes, name), name)) {
        yield line;
        read += 1;
        if (read % LINES_A_TURN === 0) await nextTurn();
      }
    }
  }

  /**
   * One line for each entity, in the same order each time: what several lines say of one is merged.
   *
   * @throws as lines()
   */
  async *entities(): AsyncGenerator<{ readonly id: string; readonly line: string }, void> {
    const last = new DigestTable();
    const repeated = new DigestTable();
    let count = 0;
    for await (const line of this.lines()) {
      const { id } = readLine(line);
      if (!last.set(id, count)) repeated.set(id, 1);
      count += 1;
    }
    for (let isFirst = true, waits: DigestTable | undefined; isFirst || waits !== undefined; isFirst = false)
      waits = yield* this.#pass(last, repeated, waits);
  }

  /**
   * @param only the entities that were left out before; undefined for the first pass
   * @returns those that are left out once more
   */
  async *#pass(
    last: DigestTable,
    repeated: DigestTable,
    only: DigestTable | undefined,
  ): AsyncGenerator<{ readonly id: string; readonly line: string }, DigestTable | undefined> {
    const { isTemporal } = this.#options;
    const held = new Map<string, ArchivedEntity>();
    let heldChars = 0;
    let left: DigestTable | undefined;
    let at = -1;
    for await (const line of this.lines()) {
      at += 1;
      const { id, entity } = readLine(line);
      if (only !== undefined && only.get(id) === undefined) continue;
      if (repeated.get(id) === undefined) {
        yield { id, line };
        continue;
      }
      const before = held.get(id);
      if (left?.get(id) !== undefined) continue;
      if (before === undefined && heldChars > MAX_HELD_CHARS) {
        left ??= new DigestTable();
        left.set(id, 1);
        continue;
      }
      const merged = before === undefined ? entity : mergeLines(before, entity, isTemporal);
      heldChars += line.length;
      if (last.get(id) !== at) {
        held.set(id, merged);
        continue;
      }
      held.delete(id);
      if (held.size === 0) heldChars = 0;
      yield { id, line: writeJson(merged) };
    }
    return left;
  }
}
