import { randomUUID } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ArchiveUnavailableError, codeOf } from './errors.js';
import type { ArchiveStorage } from './storage.js';

/** A file that was being written when the process died starts like this. */
const UNFINISHED = '.unfinished-';

/** What a file system says that has no sync for folders. */
const CANNOT_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP']);

/** What archives are written with; tests put failing ones in their place. */
export interface FileSystem {
  write(file: FileHandle, bytes: Uint8Array): Promise<void>;
  sync(file: FileHandle): Promise<void>;
}

const REAL: FileSystem = {
  write: async (file, bytes) => file.writeFile(bytes),
  sync: async (file) => file.sync(),
};

/**
 * Archives in a folder of this machine, for its owner only. A file is written under another name, synced and renamed, and then
 * its folder is synced: what has its name is whole.
 */
export class FolderStorage implements ArchiveStorage {
  readonly #root: string;
  readonly #files: FileSystem;

  constructor(root: string, files = REAL) {
    this.#root = root;
    this.#files = files;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#root, name);
    const unfinished = join(dirname(path), `${UNFINISHED}${randomUUID()}`);
    try {
      await this.#makeFolder(dirname(path));
      await this.#write(unfinished, bytes);
      await rename(unfinished, path);
      await this.#syncFolder(dirname(path));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw unavailable(`${basename(name)} cannot be written`, error);
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
      if (codeOf(error) === 'ENOENT') return undefined;
      throw unavailable(`${basename(name)} cannot be read`, error);
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
      // A link is removed as such: what it leads to stays.
      const isFolder = last !== undefined && (await lstatOf(path))?.isDirectory() === true;
      for (const { name } of isFolder ? await entriesIn(path) : [])
        if (name !== last) await rm(join(path, name), { recursive: true, force: true });
      await rm(path, { recursive: true, force: true });
      await this.#syncFolder(this.#root);
    } catch (error) {
      throw unavailable(`${folder} cannot be removed`, error);
    }
  }

  async close(): Promise<void> {}

  async #names(folder: string, takes: (entry: Dirent) => boolean): Promise<string[]> {
    const path = join(this.#root, folder);
    try {
      if (!(await this.#isOwnFolder(path))) return [];
      // Without the folder of all archives, nothing is known of any.
      const entries = folder === '' ? await readdir(path, { withFileTypes: true }) : await entriesIn(path);
      return entries.filter(takes).map(({ name }) => name);
    } catch (error) {
      throw unavailable('the folder cannot be listed', error);
    }
  }

  /** Whether there is such a folder. One that is a link is refused: it may lead anywhere. */
  async #isOwnFolder(path: string): Promise<boolean> {
    if (path === this.#root || path === join(this.#root, '')) return true;
    const found = await lstatOf(path);
    if (found === undefined) return false;
    if (!found.isDirectory()) throw new Error(`${basename(path)} is not a folder`);
    return true;
  }

  async #makeFolder(path: string): Promise<void> {
    if (await this.#isOwnFolder(path)) return;
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
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
      // Network shares (SMB) keep no folders to be synced.
      if (!CANNOT_SYNC.has(codeOf(error) ?? '')) throw error;
    } finally {
      await folder.close();
    }
  }
}

async function lstatOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Makes the folder of all archives where it is missing, for its owner only. @throws ArchiveUnavailableError */
export async function makeRoot(root: string): Promise<void> {
  try {
    await makeFolder(resolve(root));
  } catch (error) {
    throw unavailable('the folder cannot be created', error);
  }
}

/** Node's own recursive mkdir never ends below /proc. */
async function makeFolder(path: string, mayAscend = true): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || !mayAscend || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path, false);
  }
}

/** Paths stay out of the message: clients read it. */
function unavailable(what: string, error: unknown): ArchiveUnavailableError {
  const code = codeOf(error);
  const why =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'the disk is full'
      : (code ?? (error instanceof Error ? error.message : String(error)));
  return new ArchiveUnavailableError(`The folder of the archives fails: ${what} (${why}).`, { cause: error });
}

/** What is in a folder; nothing if another gateway has removed it. */
async function entriesIn(path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
