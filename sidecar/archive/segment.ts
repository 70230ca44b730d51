import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { ArchiveUnreadableError } from './errors.js';

const pack: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(gzip);
const unpack: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(gunzip);

/** Fast: an archive is written while a purge waits for it. */
const LEVEL = 1;

/** A segment is closed long before; one entity may be as large as an answer of the broker. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

const NAME = /^(\d{6,15})-(\d{6,15})\.ndjson\.gz$/;

/** Of the process that wrote a segment the lease, and the number of the segment, both from 0: they are in order of time. */
export interface SegmentPlace {
  readonly epoch: number;
  readonly number: number;
}

export function segmentName({ epoch, number }: SegmentPlace): string {
  return `${String(epoch).padStart(6, '0')}-${String(number).padStart(6, '0')}.ndjson.gz`;
}

/** @returns undefined for the name of something else */
export function segmentPlace(name: string): SegmentPlace | undefined {
  const [, epoch, number] = NAME.exec(name) ?? [];
  return epoch === undefined || number === undefined
    ? undefined
    : { epoch: Number(epoch), number: Number(number) };
}

/** @param lines each without its line end */
export async function packLines(lines: readonly string[]): Promise<Buffer> {
  return pack(Buffer.from(`${lines.join('\n')}\n`), { level: LEVEL });
}

/** @throws ArchiveUnreadableError for one that is torn or was changed: gzip has the length and a checksum of its content */
export async function unpackLines(bytes: Buffer, name: string): Promise<readonly string[]> {
  try {
    const text = (await unpack(bytes, { maxOutputLength: MAX_UNPACKED_BYTES })).toString('utf8');
    return text.split('\n').filter((line) => line !== '');
  } catch (cause) {
    throw new ArchiveUnreadableError(`The archive is damaged: segment ${name} cannot be unpacked.`, {
      cause,
    });
  }
}

/** The segments that an archive has to have: SHA-256 of what is stored of each, in hex, by its name without the folder. */
export type SegmentList = ReadonlyMap<string, string>;

const LIST_NAME = /^(\d{6,15})\.sha256$/;

/** The object that lists the segments, once a process has ended to write: `sha256sum -c` checks them by it. */
export function listName(epoch: number): string {
  return `${String(epoch).padStart(6, '0')}.sha256`;
}

/** The process that wrote a list of segments: the one with the highest number is the last. @returns undefined for another name */
export function listEpoch(name: string): number | undefined {
  const [, epoch] = LIST_NAME.exec(name) ?? [];
  return epoch === undefined ? undefined : Number(epoch);
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function writeList(list: SegmentList): string {
  const lines = [...list].sort(([one], [other]) => (one < other ? -1 : 1));
  return lines.map(([name, digest]) => `${digest}  ${name}\n`).join('');
}

/** @throws ArchiveUnreadableError */
export function readList(text: string): SegmentList {
  const list = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    if (digest === undefined || name === undefined || segmentPlace(name) === undefined)
      throw new ArchiveUnreadableError('The archive is damaged: the list of its segments cannot be read.');
    list.set(name, digest);
  }
  return list;
}
