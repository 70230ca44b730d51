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
