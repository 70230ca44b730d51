/** Where archives are kept: a folder or a bucket. Names are our own: letters, digits, dots, dashes, with slashes between. */
export interface ArchiveStorage {
  /**
   * Writes an object. When it resolves, the object outlasts a crash of this machine.
   *
   * @throws ArchiveUnavailableError; then the object is not there, or is there whole
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @returns undefined when it is not there. @throws ArchiveUnavailableError */
  get(name: string): Promise<Buffer | undefined>;
  /** The names of the objects below a folder, in order; empty when there is none. @throws ArchiveUnavailableError */
  list(folder: string): Promise<readonly string[]>;
  /** The names of the folders. @throws ArchiveUnavailableError */
  folders(): Promise<readonly string[]>;
  /**
   * Removes a folder and all that is in it.
   *
   * @param last the name of an object in it that stays as long as any other could not be removed
   * @throws ArchiveUnavailableError
   */
  remove(folder: string, last?: string): Promise<void>;
  /** Ends what is under way. */
  close(): Promise<void>;
}
