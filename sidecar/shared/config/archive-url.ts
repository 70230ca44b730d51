import { fileURLToPath } from 'node:url';

/** Where archives are stored. */
export type ArchiveLocation =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string };

/** Bucket names of S3 and of compatible services, some of which also allow capital letters. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9.-]{1,61}[A-Za-z0-9]$/;

/** Allowed characters in a part of a prefix: none that an encoding could change. */
const PREFIX_PART = /^[A-Za-z0-9_.=-]{1,128}$/;

/**
 * Reads `ARCHIVE_URL`: `file:///folder` or `s3://bucket/prefix`.
 *
 * @throws Error whose message completes "ARCHIVE_URL …"
 */
export function parseArchiveUrl(text: string): ArchiveLocation {
  const url = URL.parse(text) ?? undefined;
  if (url === undefined || (url.protocol !== 'file:' && url.protocol !== 's3:'))
    throw new Error('must be file:///folder or s3://bucket/prefix');
  if (url.username !== '' || url.password !== '')
    throw new Error(
      'must not contain credentials: they belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  if (url.search !== '' || url.hash !== '') throw new Error('must not have a query or a fragment');
  return url.protocol === 'file:' ? parseFolder(url, text) : parseBucket(url, text);
}

function parseFolder(url: URL, text: string): ArchiveLocation {
  // The URL class reads file:archive as file:///archive, although it looks like a folder of the project.
  if (!/^file:\//i.test(text)) throw new Error('must name a folder by its absolute path: file:///folder');
  if (url.host !== '') throw new Error('must name a folder on this machine: file:///folder');
  if (/%2f|%5c|%00/i.test(url.pathname)) throw new Error('must not have an encoded slash in its path');
  const path = fileURLToPath(url);
  if (path.replace(/[\\/]+$/, '') === '') throw new Error('must name a folder below the root');
  return { kind: 'folder', path };
}

function parseBucket(url: URL, text: string): ArchiveLocation {
  // The text itself is read, because the URL class resolves dots in the path (it keeps the case of the host in this
  // scheme).
  const [bucket = '', ...parts] = text.replace(/^s3:\/\//i, '').split('/');
  if (!BUCKET.test(bucket) || url.port !== '') throw new Error('must name a bucket: s3://bucket/prefix');
  const named = parts.filter((part, index) => part !== '' || index < parts.length - 1);
  for (const part of named)
    if (!PREFIX_PART.test(part) || /^\.+$/.test(part))
      throw new Error('must have a prefix of letters, digits, "_", ".", "=" and "-", between single slashes');
  return { kind: 'bucket', bucket, prefix: named.map((part) => `${part}/`).join('') };
}
