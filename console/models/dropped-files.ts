import { isOfInterest, TooLargeError, type Pathed, type UploadOf } from './upload.js';

export type PathedFile = Pathed<File>;
export type Upload = UploadOf<File>;

/** Folders and files that are looked at before it is too many, those that are left out included. */
const MAX_ENTRIES = 200_000;

/** The body of an import, and its media type where the browser does not set it. */
export function bodyOf(upload: Upload): { body: Blob | FormData; headers: Readonly<Record<string, string>> } {
  if (upload.kind === 'archive') return { body: upload.file, headers: { 'content-type': upload.mediaType } };
  const form = new FormData();
  upload.files.forEach(({ path, file }, index) => form.append(`file${index}`, file, path));
  return { body: form, headers: {} };
}

/** Files of an input; those of a chosen folder have paths. */
export function chosenFiles(list: FileList | null): readonly PathedFile[] {
  return [...(list ?? [])].map((file) => ({
    path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
    file,
  }));
}

/**
 * Files of what was dropped, folders walked. Folders of tools are not looked into.
 *
 * @throws TooLargeError
 */
export async function droppedFiles(
  data: DataTransfer,
): Promise<{ readonly files: readonly PathedFile[]; readonly left: number }> {
  // They have to be taken before anything is waited for.
  const items = [...data.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: PathedFile[] = [];
  // What another page or program hands over may be files without a place of their own.
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

/** All entries of a folder: a reader gives a hundred at a time, and none at the end. */
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
