/** Bytes of UTF-8 of a path, and folders within each other. */
const MAX_PATH_BYTES = 1024;
const MAX_DEPTH = 32;

/** A path below the root of a repository, or why it cannot be one. */
export type PathReading = { readonly path: string } | { readonly fault: string };

/**
 * Reads the name of a file as an archive or a form gives it. Nothing is ever written to a disk, but a name that would lead out
 * of its folder elsewhere is not believed here either.
 *
 * @param name with `/` between folders; a leading `./` and a trailing `/` are left out
 */
export function readPath(name: string): PathReading {
  if (Buffer.byteLength(name) > MAX_PATH_BYTES)
    return { fault: `its path is longer than ${MAX_PATH_BYTES} bytes` };
  const path = name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (path === '' || path === '.') return { path: '' };

  if (/[\u0000-\u001f\u007f]/.test(path)) return { fault: 'its path has control characters' };
  if (path.includes('\ufffd')) return { fault: 'its path is not valid UTF-8' };
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return { fault: 'its path is absolute' };
  if (path.includes('\\')) return { fault: 'its path has a backslash' };
  const segments = path.split('/');
  if (segments.includes('..')) return { fault: 'its path leads out of the repository (..)' };
  if (segments.some((segment) => segment === '' || segment === '.'))
    return { fault: 'its path has an empty segment or one that is a dot' };
  if (segments.length > MAX_DEPTH) return { fault: `it is more than ${MAX_DEPTH} folders deep` };
  return { path };
}

/** The folder of a path with its `/`, or '' for the root. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The last segment of a path or URL. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Folders of tools and of operating systems, which are no part of a repository of models. */
const FOREIGN = new Set(['node_modules', '__MACOSX']);

/** Whether an import looks into a folder or file of this name at all; names that begin with a dot belong to tools. */
export function isOfInterest(segment: string): boolean {
  return !segment.startsWith('.') && !FOREIGN.has(segment);
}

/** Whether an import reads a file: JSON by its name, in no folder of a tool. */
export function isRead(path: string): boolean {
  return /\.(?:json|jsonld)$/i.test(path) && path.split('/').every(isOfInterest);
}
