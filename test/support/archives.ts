import { buffer } from 'node:stream/consumers';
import { crc32, createGzip, deflateRawSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';

/** An entry of an archive, valid or broken. */
export interface Entry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: NonNullable<Header['type']>;
  readonly linkname?: string;
}

/** Makes a tar.gz of entries, unchanged. */
export async function tarGz(entries: Iterable<Entry>): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = '', type = 'file', linkname } of entries) {
    const header = { name, type, ...(linkname === undefined ? {} : { linkname }) };
    tar.entry(header, content);
  }
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** The Unix mode, in the upper half of the attributes. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** False values for the directory. */
  readonly crc?: number;
  readonly size?: number;
}

let latest: { readonly raw: Buffer; readonly packed: Buffer } = {
  raw: Buffer.alloc(0),
  packed: deflateRawSync(''),
};

/** Archives of very many files have the same content in all of them. */
function deflated(raw: Buffer): Buffer {
  if (!raw.equals(latest.raw)) latest = { raw, packed: deflateRawSync(raw) };
  return latest.packed;
}

/** Makes a zip of entries (APPNOTE 4.3), deflated. */
export function zip(entries: Iterable<ZipEntry>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for (const { name, content = '', mode = 0, flags = 0x800, method = 8, ...said } of entries) {
    const raw = Buffer.from(content);
    const packed = method === 8 ? deflated(raw) : raw;
    const { crc = crc32(raw), size = raw.length } = said;
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, nameBytes, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, nameBytes);
    files.push(local);
    offset += local.length;
    count += 1;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listed, end]);
}
