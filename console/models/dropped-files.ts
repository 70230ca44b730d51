import { isOfInterest, TooLargeError, type Pathed, type UploadOf } from './upload.js';

export type PathedFile = Pathed<File>;
export type Upload = UploadOf<File>;

/** Maximum number of folders and files that are visited, including skipped ones. */
const MAX_ENTRIES = 200_000;

/** Returns the body of an import, and its media type if the browser does not set it. */
export function bodyOf(upload: Upload): { body: Blob | FormData; headers: Readonly<Record<string, string>> } {
  if (upload.kind === 'archive') return { body: upload.file, headers: { 'content-type': upload.mediaType } };
  const form = new FormData();
  upload.files.forEach(({ path, file }, index) => form.append(`file${index}`, file, path));
  return { body: form, headers: {} };
}

/** Returns the files of an input; those from a chosen folder have paths. */
export function chosenFiles(list: FileList | null): readonly PathedFile[] {
  return [...(list ?? [])].map((file) => ({
    path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
    file,
  }));
}

/**
 * Returns the dropped files, including those in folders. Folders of tools are skipped.
 *
 * @throws TooLargeError
 */
export async function droppedFiles(
  data: DataTransfer,
): Promise<{ readonly files: readonly PathedFile[]; readonly left: number }> {
  // The items must be read before the first `await`.
  const items = [...data.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: PathedFile[] = [];
  // Another page or program may drop files that have no file system entry.
  if (entries.length === 0) for (const file of data.files) files.push({ path: file.name, file });
  let [left, seen] = [0, 0];
  const walk = async (entry: FileSystemEntry, folder: string): Promise<void> => {
    seen += 1;
    if (seen > MAX_ENTRIES) throw new TooLargeError('files');
    if (!isOfInterest(entry.name)) {
      left += 1;
      return;
    }
    const path = folder + entry.name;
    if (entry.isFile) files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    else for (const one of await entriesOf(entry as FileSystemDirectoryEntry)) await walk(one, `${path}/`);
  };
  for (const entry of entries) await walk(entry, '');
  return { files, left };
}

async function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Reads all entries of a folder: a reader returns about a hundred at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}
