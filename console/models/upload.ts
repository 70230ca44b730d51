/** What is to be known of a file before it is sent. */
export interface SizedFile {
  readonly name: string;
  readonly size: number;
}

/** A file with its path below what was dropped or chosen. */
export interface Pathed<Kind extends SizedFile> {
  readonly path: string;
  readonly file: Kind;
}

/** What is sent to be imported. */
export type UploadOf<Kind extends SizedFile> =
  | { readonly kind: 'archive'; readonly file: Kind; readonly mediaType: string }
  | {
      readonly kind: 'files';
      readonly files: readonly Pathed<Kind>[];
      /** Files that an import does not read, and that are not sent. */
      readonly left: number;
      readonly bytes: number;
    };

/** As many as one import takes. */
export const MAX_FILES = 20_000;

/** What the gateway takes at most by itself is less; this is what the page holds at most. */
export const MAX_BYTES = 512 * 1024 * 1024;

/** There is more than an import takes. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';

  constructor(readonly what: 'files' | 'bytes') {
    super(what);
  }
}

/** Whether an import reads a file: JSON by its name, in no folder of a tool (as docs/import.md says). */
export function isRead(path: string): boolean {
  return /\.(?:json|jsonld)$/i.test(path) && path.split('/').every(isOfInterest);
}

/** Whether a folder or file of this name is looked into; others belong to tools. */
export function isOfInterest(segment: string): boolean {
  return !segment.startsWith('.') && segment !== 'node_modules' && segment !== '__MACOSX';
}

/** The media type of an archive that an import takes, by its name; undefined for other files. */
export function archiveType(name: string): string | undefined {
  if (/\.(?:tar\.gz|tgz)$/i.test(name)) return 'application/gzip';
  return /\.zip$/i.test(name) ? 'application/zip' : undefined;
}

/**
 * What is sent of the files that were dropped or chosen: one archive as it is, else those that an import reads.
 *
 * @throws TooLargeError
 */
export function uploadOf<Kind extends SizedFile>(files: readonly Pathed<Kind>[], left = 0): UploadOf<Kind> {
  const [only] = files;
  const mediaType = only === undefined ? undefined : archiveType(only.file.name);
  if (only !== undefined && files.length === 1 && mediaType !== undefined) {
    if (only.file.size > MAX_BYTES) throw new TooLargeError('bytes');
    return { kind: 'archive', file: only.file, mediaType };
  }
  const kept = files.filter(({ path, file }) => isRead(path) || archiveType(file.name) !== undefined);
  const bytes = kept.reduce((sum, { file }) => sum + file.size, 0);
  if (kept.length > MAX_FILES) throw new TooLargeError('files');
  if (bytes > MAX_BYTES) throw new TooLargeError('bytes');
  return { kind: 'files', files: kept, left: left + files.length - kept.length, bytes };
}
