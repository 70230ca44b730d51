import { randomUUID } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../shared/errors.js';
import { makeFolders } from '../shared/make-folders.js';
import { ArchiveUnavailableError } from './errors.js';
import type { ArchiveStorage } from './storage.js';

/** Prefix of the name of a file while it is being written; such a file remains if the process dies. */
const TEMPORARY_PREFIX = '.unfinished-';

/** Error codes of file systems that cannot sync folders. */
const SYNC_NOT_SUPPORTED: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP']);

/** The file operations that can fail while writing; tests replace them. */
export interface FileOperations {
  write(file: FileHandle, bytes: Uint8Array): Promise<void>;
  sync(file: FileHandle): Promise<void>;
}

const NODE_FILES: FileOperations = {
  write: async (file, bytes) => file.writeFile(bytes),
  sync: async (file) => file.sync(),
};

/**
 * Archives in a local folder, accessible to its owner only. A file is written under a temporary name, synced and
 * renamed, and then its folder is synced; so a file with its final name is always complete.
 */
export class FolderStorage implements ArchiveStorage {
  readonly #root: string;
  readonly #files: FileOperations;

  constructor(root: string, files = NODE_FILES) {
    this.#root = root;
    this.#files = files;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#root, name);
    const temporary = join(dirname(path), `${TEMPORARY_PREFIX}${randomUUID()}`);
    try {
      await this.#createFolder(dirname(path));
      await this.#write(temporary, bytes);
      await rename(temporary, path);
      await this.#syncFolder(dirname(path));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw unavailableError(`${basename(name)} cannot be written`, error);
    }
  }

  async get(name: string): Promise<Buffer | undefined> {
    try {
      if (!(await this.#isOwnFolder(dirname(join(this.#root, name))))) return undefined;
      const file = await open(join(this.#root, name), constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        return await file.readFile();
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw unavailableError(`${basename(name)} cannot be read`, error);
    }
  }

  async list(folder: string): Promise<readonly string[]> {
    const names = await this.#names(folder, (entry) => entry.isFile() && !entry.name.startsWith('.'));
    return names.sort().map((name) => `${folder}/${name}`);
  }

  async folders(): Promise<readonly string[]> {
    return this.#names('', (entry) => entry.isDirectory());
  }

  async remove(folder: string, last?: string): Promise<void> {
    const path = join(this.#root, folder);
    try {
      // A symbolic link is removed itself; its target stays.
      const isFolder = last !== undefined && (await lstatOf(path))?.isDirectory() === true;
      for (const { name } of isFolder ? await entriesIn(path) : [])
        if (name !== last) await rm(join(path, name), { recursive: true, force: true });
      await rm(path, { recursive: true, force: true });
      await this.#syncFolder(this.#root);
    } catch (error) {
      throw unavailableError(`${folder} cannot be removed`, error);
    }
  }

  async close(): Promise<void> {}

  async #names(folder: string, filter: (entry: Dirent) => boolean): Promise<string[]> {
    const path = join(this.#root, folder);
    try {
      if (!(await this.#isOwnFolder(path))) return [];
      // A missing root folder is an error: nothing is known about any archive then.
      const entries = folder === '' ? await readdir(path, { withFileTypes: true }) : await entriesIn(path);
      return entries.filter(filter).map(({ name }) => name);
    } catch (error) {
      throw unavailableError('the folder cannot be listed', error);
    }
  }

  /** Whether the folder exists. A symbolic link is refused, because it may lead anywhere. */
  async #isOwnFolder(path: string): Promise<boolean> {
    if (path === this.#root || path === join(this.#root, '')) return true;
    const found = await lstatOf(path);
    if (found === undefined) return false;
    if (!found.isDirectory()) throw new Error(`${basename(path)} is not a folder`);
    return true;
  }

  async #createFolder(path: string): Promise<void> {
    if (await this.#isOwnFolder(path)) return;
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await this.#syncFolder(dirname(path));
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const file = await open(path, 'wx', 0o600);
    try {
      await this.#files.write(file, bytes);
      await this.#files.sync(file);
    } finally {
      await file.close();
    }
  }

  async #syncFolder(path: string): Promise<void> {
    const folder = await open(path, constants.O_RDONLY);
    try {
      await this.#files.sync(folder);
    } catch (error) {
      // Network shares (SMB) cannot sync folders.
      if (!SYNC_NOT_SUPPORTED.has(errorCode(error) ?? '')) throw error;
    } finally {
      await folder.close();
    }
  }
}

async function lstatOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Creates the root folder of the archives if it is missing, accessible to its owner only. @throws ArchiveUnavailableError */
export function createRootFolder(root: string): void {
  try {
    makeFolders(resolve(root), 0o700);
  } catch (error) {
    throw unavailableError('the folder cannot be created', error);
  }
}

/** Makes an error without paths, because clients can read its message. */
function unavailableError(what: string, error: unknown): ArchiveUnavailableError {
  const code = errorCode(error);
  const why =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'the disk is full'
      : (code ?? (error instanceof Error ? error.message : String(error)));
  return new ArchiveUnavailableError(`The archive folder fails: ${what} (${why}).`, {
    cause: error,
  });
}

/** Returns the entries of a folder; none if another gateway has removed it. */
async function entriesIn(path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
