import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MAX_FILE_BYTES, MAX_FILES } from '../schemas/repository/collector.js';
import { isRelevantPath, isRead } from '../schemas/repository/file-paths.js';
import { isOfModels } from '../schemas/repository/sorted-files.js';
import { packTarGz, type PackedFile } from '../schemas/repository/pack.js';
import { archiveKind } from '../schemas/repository/source.js';
import { usage } from './exit-codes.js';
import { formatCount } from './format.js';
import { unreadable } from './json-file.js';

const MAX_DEPTH = 31;

/** An archive to import. */
export interface Upload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: 'application/gzip' | 'application/zip';
  /** What was left out of folders, by path. Each sentence begins with the path and says why. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** The folders as the user named them, by the names with which the paths of their files begin. */
  readonly folders: ReadonlyMap<string, string>;
}

/**
 * Reads folders or one archive. Only the JSON files of folders are read; links are not followed, and folders of tools (`.git`,
 * `node_modules`) are skipped.
 */
export async function readUpload(paths: readonly string[]): Promise<Upload> {
  const kinds = await Promise.all(paths.map(async (path) => ({ path, isFolder: await isFolder(path) })));
  const [first] = kinds;
  if (first?.isFolder === false && kinds.length === 1) return readArchive(first.path);
  const file = kinds.find((one) => !one.isFolder);
  if (file !== undefined) throw usage(`${file.path} is not a folder: an archive must be imported alone.`);
  const { files, leftOut, folders } = await readFolders(paths);
  if (files.length === 0) throw usage(`No JSON files found in ${paths.join(', ')}.`);
  const bytes = new Uint8Array(await buffer(packTarGz(files)));
  return { bytes, mediaType: 'application/gzip', leftOut, folders };
}

type FolderFile = PackedFile & { readonly content: Buffer };

export interface ReadFolders {
  /** Sorted by name; each path begins with the name of its folder. */
  readonly files: readonly FolderFile[];
  /** What was left out, by path. Each sentence begins with the path and says why. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** The folders as the user gave them, by their names. */
  readonly folders: ReadonlyMap<string, string>;
}

/** Reads the JSON files below folders, as {@link readUpload} does. A folder that is given twice is read once. */
export async function readFolders(paths: readonly string[]): Promise<ReadFolders> {
  const files: FolderFile[] = [];
  const leftOut = new Map<string, string>();
  const [folders, places] = [new Map<string, string>(), new Map<string, string>()];
  for (const path of paths) {
    const folder = await readOrFail(path, () => realpath(path));
    if (!(await isFolder(folder))) throw usage(`${path} is not a folder.`);
    const name = basename(folder) || 'models';
    const known = places.get(name);
    if (known === folder) continue;
    if (known !== undefined) throw usage(`Two folders have the name ${name}.`);
    places.set(name, folder);
    folders.set(name, path);
    const most = files.length + MAX_FILES;
    for await (const one of filesBelow(folder, name, leftOut)) {
      files.push(one);
      if (files.length > most)
        throw usage(`There are more than ${formatCount(MAX_FILES)} JSON files in ${path}.`);
    }
  }
  return { files, leftOut, folders };
}

async function readArchive(path: string): Promise<Upload> {
  const bytes = new Uint8Array(await readOrFail(path, () => readFileAt(path)));
  const kind = archiveKind(bytes);
  if (kind === undefined) throw usage(`${path} is neither a folder, nor a tar.gz, nor a zip.`);
  const mediaType = kind === 'gzip' ? 'application/gzip' : 'application/zip';
  return { bytes, mediaType, leftOut: new Map(), folders: new Map() };
}

/** Whether a path leads to a folder rather than a file. @throws CliError if it is neither */
export async function isFolder(path: string): Promise<boolean> {
  const found = await readOrFail(path, () => stat(path));
  // Reading a pipe or a device may never end.
  if (!found.isDirectory() && !found.isFile()) throw usage(`${path} is neither a folder nor a file.`);
  return found.isDirectory();
}

/** Yields the files below a folder, sorted by name. */
async function* filesBelow(
  folder: string,
  name: string,
  leftOut: Map<string, string>,
  depth = 0,
): AsyncGenerator<FolderFile> {
  const entries = await readOrFail(folder, () => readdir(folder, { withFileTypes: true }));
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const [at, path] = [join(folder, entry.name), `${name}/${entry.name}`];
    if (!isRelevantPath(path.slice(path.indexOf('/') + 1))) continue;
    const isWanted = entry.isDirectory() || (entry.isFile() && isRead(entry.name));
    if (entry.isSymbolicLink()) leftOut.set(path, `${path} is a link, and links are not followed.`);
    // It cannot be opened by such a name.
    else if (isWanted && entry.name.includes('\ufffd')) leftOut.set(path, `${path} is not a name in UTF-8.`);
    else if (entry.isDirectory()) {
      if (depth >= MAX_DEPTH) leftOut.set(path, `${path} is more than ${MAX_DEPTH} folders deep.`);
      else yield* filesBelow(at, path, leftOut, depth + 1);
    } else if (isWanted) {
      const content = await readOrFail(at, () => readFileAt(at, MAX_FILE_BYTES));
      if (content !== undefined) yield { path, content };
      // An import ignores any other file of that size.
      else if (isOfModels(path))
        leftOut.set(path, `${path} has more than ${formatCount(MAX_FILE_BYTES)} bytes.`);
    }
  }
}

/** Reads a file. With a maximum, it fails if the file has become a link in the meantime. @returns undefined if it is larger */
async function readFileAt(path: string): Promise<Buffer>;
async function readFileAt(path: string, maxBytes: number): Promise<Buffer | undefined>;
async function readFileAt(path: string, maxBytes?: number): Promise<Buffer | undefined> {
  const noLink = maxBytes === undefined ? 0 : constants.O_NOFOLLOW;
  const file = await open(path, constants.O_RDONLY | noLink);
  try {
    if (maxBytes !== undefined && (await file.stat()).size > maxBytes) return undefined;
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Runs a read. @throws CliError if it fails */
export async function readOrFail<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
