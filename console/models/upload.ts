/** The properties of a file that are needed before it is sent. */
export interface SizedFile {
  readonly name: string;
  readonly size: number;
}

/** A file with its path, relative to what was dropped or chosen. */
export interface Pathed<Kind extends SizedFile> {
  readonly path: string;
  readonly file: Kind;
}

/** An upload to import. */
export type UploadOf<Kind extends SizedFile> =
  | { readonly kind: 'archive'; readonly file: Kind; readonly mediaType: string }
  | {
      readonly kind: 'files';
      readonly files: readonly Pathed<Kind>[];
      /** Number of files that are not sent, because an import does not read them. */
      readonly left: number;
      readonly bytes: number;
    };

/** Maximum number of files in one import. */
export const MAX_FILES = 20_000;

/** Maximum size that this page can hold. The default limit of the gateway is lower. */
export const MAX_BYTES = 512 * 1024 * 1024;

/** There are more files or bytes than an import accepts. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';

  constructor(readonly what: 'files' | 'bytes') {
    super(what);
  }
}

/** Whether an import reads a file: JSON by its name, and not in a folder of a tool (see docs/import.md). */
export function isRead(path: string): boolean {
  return /\.(?:json|jsonld)$/i.test(path) && path.split('/').every(isOfInterest);
}

/** Whether a folder or file with this name is read; others belong to tools. */
export function isOfInterest(segment: string): boolean {
  return !segment.startsWith('.') && segment !== 'node_modules' && segment !== '__MACOSX';
}

/** Returns the media type of an archive that an import accepts, from its name; undefined for other files. */
export function archiveType(name: string): string | undefined {
  if (/\.(?:tar\.gz|tgz)$/i.test(name)) return 'application/gzip';
  return /\.zip$/i.test(name) ? 'application/zip' : undefined;
}

/**
 * Returns what to send of the dropped or chosen files: a single archive unchanged, otherwise the files that an import reads.
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
