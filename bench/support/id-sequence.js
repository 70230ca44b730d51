/**
 * A sequence of ids from which any id can be removed. Finds ranks and slices in O(log n), with a Fenwick tree of the remaining
 * ids.
 */
export class IdSequence {
  /** @type {readonly string[]} */
  #ids;
  /** @type {Map<string, number>} */
  #positions;
  /** @type {Int32Array} */
  #tree;

  /** @param {readonly string[]} ids */
  constructor(ids) {
    this.#ids = ids;
    this.#positions = new Map(ids.map((id, position) => [id, position]));
    this.#tree = new Int32Array(ids.length + 1);
    for (let at = 1; at <= ids.length; at++) this.#tree[at] = at & -at;
  }

  get size() {
    return this.#positions.size;
  }

  /** @param {string} id @returns {number | undefined} how many remaining ids are before it */
  rankOf(id) {
    const position = this.#positions.get(id);
    if (position === undefined) return undefined;
    let rank = 0;
    for (let at = position; at > 0; at -= at & -at) rank += this.#tree[at] ?? 0;
    return rank;
  }

  /** @param {string} id */
  remove(id) {
    const position = this.#positions.get(id);
    if (position === undefined) return;
    this.#positions.delete(id);
    for (let at = position + 1; at < this.#tree.length; at += at & -at)
      this.#tree[at] = (this.#tree[at] ?? 0) - 1;
  }

  /** @param {number} offset @param {number} limit @returns {readonly string[]} the remaining ids, starting at an offset */
  slice(offset, limit) {
    const found = [];
    for (let at = this.#positionOf(offset); at < this.#ids.length && found.length < limit; at++) {
      const id = this.#ids[at] ?? '';
      if (this.#positions.has(id)) found.push(id);
    }
    return found;
  }

  /** @param {number} rank @returns {number} the position of the id with this rank; the end if there is none */
  #positionOf(rank) {
    let position = 0;
    let left = rank;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#tree.length - 1))); step > 0; step >>= 1) {
      const next = position + step;
      if (next < this.#tree.length && (this.#tree[next] ?? 0) <= left) {
        position = next;
        left -= this.#tree[next] ?? 0;
      }
    }
    return position;
  }
}
