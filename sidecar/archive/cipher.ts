import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { ArchiveUnreadableError } from './errors.js';

const deriveKey: (secret: string, salt: Uint8Array, length: number, cost: object) => Promise<Buffer> =
  promisify(scrypt);

/*
 * An encrypted segment, byte by byte (docs/undo.md; a test keeps an example):
 *   8   "NGLDARC1"
 *   16  salt: the key is scrypt(secret, salt), with N = 2^15, r = 8, p = 1
 *   12  nonce
 *   …   the gzip, encrypted with AES-256-GCM; additional data: the 36 bytes before, and the segment's name
 *   16  tag
 */
const MAGIC = Buffer.from('NGLDARC1');
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = MAGIC.length + SALT_BYTES + NONCE_BYTES;
const SCRYPT_COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const ALGORITHM = 'aes-256-gcm';

/** Number of derived keys to cache, so that reading an archive derives each key only once. */
const MAX_CACHED_KEYS = 64;

/** Encrypts the segments of archives, with one key for each process that writes an archive, and decrypts them. */
export class ArchiveCipher {
  readonly #secrets: readonly string[];
  readonly #keys = new LRUCache<string, Promise<Buffer>>({ max: MAX_CACHED_KEYS });

  /** @param secrets the first one encrypts, all of them decrypt; if empty, segments are not encrypted */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  get isEnabled(): boolean {
    return this.#secrets.length > 0;
  }

  /** Makes a new salt for an archive. */
  salt(): Buffer {
    return randomBytes(SALT_BYTES);
  }

  /** @param name of the segment, including its archive: a segment that was moved or renamed cannot be read */
  async encrypt(
    bytes: Uint8Array,
    name: string,
    salt: Buffer,
    nonce = randomBytes(NONCE_BYTES),
  ): Promise<Buffer> {
    const [secret] = this.#secrets;
    if (secret === undefined) return Buffer.from(bytes);
    const header = Buffer.concat([MAGIC, salt, nonce]);
    const cipher = createCipheriv(ALGORITHM, await this.#key(secret, salt), nonce);
    cipher.setAAD(Buffer.concat([header, Buffer.from(name)]));
    return Buffer.concat([header, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws ArchiveUnreadableError */
  async decrypt(bytes: Buffer, name: string): Promise<Buffer> {
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return bytes;
    if (!this.isEnabled)
      throw new ArchiveUnreadableError('The archive is encrypted, and ARCHIVE_SECRET is not set.');
    const header = bytes.subarray(0, HEADER_BYTES);
    const salt = header.subarray(MAGIC.length, MAGIC.length + SALT_BYTES);
    for (const secret of this.#secrets) {
      const decrypted = tryDecrypt(bytes, await this.#key(secret, salt), name);
      if (decrypted !== undefined) return decrypted;
    }
    throw new ArchiveUnreadableError(
      'The archive cannot be decrypted: it was changed, or it was written with another ARCHIVE_SECRET. ' +
        'The previous secret belongs in ARCHIVE_SECRET_BEFORE.',
    );
  }

  async #key(secret: string, salt: Uint8Array): Promise<Buffer> {
    const name = `${secret}\u0000${Buffer.from(salt).toString('hex')}`;
    const key = this.#keys.get(name) ?? deriveKey(secret, salt, 32, SCRYPT_COST);
    this.#keys.set(name, key);
    return key;
  }
}

function tryDecrypt(bytes: Buffer, key: Buffer, name: string): Buffer | undefined {
  if (bytes.length < HEADER_BYTES + TAG_BYTES) return undefined;
  const header = bytes.subarray(0, HEADER_BYTES);
  try {
    const decipher = createDecipheriv(ALGORITHM, key, header.subarray(-NONCE_BYTES));
    decipher.setAAD(Buffer.concat([header, Buffer.from(name)]));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
