import { createHash } from 'node:crypto';
import { ArchiveUnreadableError } from './errors.js';
import { segmentPlace } from './segment.js';

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
