/**
 * Where archives are stored: a folder or a bucket. Object names are made here: letters, digits, dots and dashes,
 * separated by slashes.
 */
export interface ArchiveStorage {
  /**
   * Writes an object. Once it resolves, the object survives a crash of this machine.
   *
   * @throws ArchiveUnavailableError; in that case the object is either missing or complete
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @returns undefined if the object does not exist. @throws ArchiveUnavailableError */
  get(name: string): Promise<Buffer | undefined>;
  /** Lists the names of the objects in a folder, sorted; empty if there is no such folder. @throws ArchiveUnavailableError */
  list(folder: string): Promise<readonly string[]>;
  /** Lists the names of the folders. @throws ArchiveUnavailableError */
  folders(): Promise<readonly string[]>;
  /**
   * Removes a folder and everything in it.
   *
   * @param last the name of an object in the folder that is kept as long as any other object could not be removed
   * @throws ArchiveUnavailableError
   */
  remove(folder: string, last?: string): Promise<void>;
  /** Aborts requests in progress and releases resources. */
  close(): Promise<void>;
}
