import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { ArchiveUnreadableError } from './errors.js';

const gzipAsync: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(gzip);
const gunzipAsync: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(gunzip);

/** Fast compression, because a purge waits while its archive is written. */
const COMPRESSION_LEVEL = 1;

/** A segment is normally closed long before this size, but one entity may be as large as a broker's answer. */
const MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024;

const SEGMENT_NAME = /^(\d{6,15})-(\d{6,15})\.ndjson\.gz$/;

/** Orders segments by time: the lease of the process that wrote a segment, and the number of the segment, both starting at 0. */
export interface SegmentId {
  readonly epoch: number;
  readonly number: number;
}

export function segmentName({ epoch, number }: SegmentId): string {
  return `${String(epoch).padStart(6, '0')}-${String(number).padStart(6, '0')}.ndjson.gz`;
}

/** @returns undefined if the name is not that of a segment */
export function parseSegmentName(name: string): SegmentId | undefined {
  const [, epoch, number] = SEGMENT_NAME.exec(name) ?? [];
  return epoch === undefined || number === undefined
    ? undefined
    : { epoch: Number(epoch), number: Number(number) };
}

/** @param lines without line ends */
export async function compressLines(lines: readonly string[]): Promise<Buffer> {
  return gzipAsync(Buffer.from(`${lines.join('\n')}\n`), { level: COMPRESSION_LEVEL });
}

/** @throws ArchiveUnreadableError if it is truncated or was changed: gzip includes the length and a checksum of the content */
export async function decompressLines(bytes: Buffer, name: string): Promise<readonly string[]> {
  try {
    const text = (await gunzipAsync(bytes, { maxOutputLength: MAX_DECOMPRESSED_BYTES })).toString('utf8');
    return text.split('\n').filter((line) => line !== '');
  } catch (cause) {
    throw new ArchiveUnreadableError(`The archive is damaged: segment ${name} cannot be unpacked.`, {
      cause,
    });
  }
}

/** The segments that an archive must have: the SHA-256 of each as stored, in hex, by name without the folder. */
export type SegmentList = ReadonlyMap<string, string>;

const LIST_NAME = /^(\d{6,15})\.sha256$/;

/**
 * Returns the name of the object that lists the segments, written when a process has finished; `sha256sum -c` can check
 * them with it.
 */
export function segmentListName(epoch: number): string {
  return `${String(epoch).padStart(6, '0')}.sha256`;
}

/**
 * Returns the epoch of the process that wrote a list of segments; the highest is the last.
 *
 * @returns undefined for another name
 */
export function segmentListEpoch(name: string): number | undefined {
  const [, epoch] = LIST_NAME.exec(name) ?? [];
  return epoch === undefined ? undefined : Number(epoch);
}

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

export function formatSegmentList(list: SegmentList): string {
  const lines = [...list].sort(([one], [other]) => (one < other ? -1 : 1));
  return lines.map(([name, digest]) => `${digest}  ${name}\n`).join('');
}

/** @throws ArchiveUnreadableError */
export function parseSegmentList(text: string): SegmentList {
  const list = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    if (digest === undefined || name === undefined || parseSegmentName(name) === undefined)
      throw new ArchiveUnreadableError('The archive is damaged: the list of its segments cannot be read.');
    list.set(name, digest);
  }
  return list;
}
