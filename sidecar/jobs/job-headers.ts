import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { PurgeError, QueryRefusedError } from '../purge/index.js';
import { defined } from '../shared/defined.js';
import type { JobNeeds, PurgeRecord } from '../store/index.js';

/** The headers of jobs: what they say of where the entities are, and how their credentials are kept. */

/** By their names in lower case. */
type Headers = Readonly<Record<string, string>>;

/** What says where the entities are, and what their names mean: as in the purge before. */
const PLACE_HEADERS = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link'] as const;

/**
 * The headers of a job that follows a purge: where the entities are, and the credentials of who asks for it.
 *
 * @throws QueryRefusedError where the request names another tenant
 */
export function headersAt(given: Headers, { tenant, link, fiware }: PurgeRecord): Headers {
  const asked = given['ngsild-tenant'] ?? given['fiware-service'];
  if (asked !== undefined && asked !== tenant)
    throw new QueryRefusedError(
      'invalidRequest',
      `The purge was of ${tenant === undefined ? 'the default tenant' : `the tenant ${tenant}`}, ` +
        'and this is done there: leave the tenant out.',
    );
  const isOther = ([name]: readonly [string, string]) => !(PLACE_HEADERS as readonly string[]).includes(name);
  const { service, servicePath } = fiware ?? {};
  return {
    ...Object.fromEntries(Object.entries(given).filter(isOther)),
    ...defined({
      'ngsild-tenant': tenant === service ? undefined : tenant,
      'fiware-service': service,
      'fiware-servicepath': servicePath,
      link,
    }),
  };
}

/** Headers that are credentials: they are kept encrypted, or not at all. */
const SECRET_HEADERS = ['authorization', 'x-auth-token'];

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A job has credentials that cannot be kept, or that cannot be read any more. */
export class JobSecretError extends PurgeError {
  readonly kind = 'jobSecretMissing';
  override readonly outcome = 'refused';
}

/** Keeps the credentials of jobs, encrypted with AES-256-GCM. */
export class HeaderSealer {
  readonly #keys: readonly Buffer[];

  /**
   * @param secrets the first one encrypts; all of them decrypt, so that a secret can be replaced while jobs wait. None: jobs
   *   with credentials are refused
   */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'ngsi-ld-gateway job headers', KEY_BYTES)),
    );
  }

  /** @throws JobSecretError when there are credentials and no key */
  seal(headers: Headers): Pick<JobNeeds, 'headers' | 'sealedHeaders'> {
    const isSecret = ([name]: readonly [string, string]) => SECRET_HEADERS.includes(name);
    const entries = Object.entries(headers);
    const secret = entries.filter(isSecret);
    const open = Object.fromEntries(entries.filter((entry) => !isSecret(entry)));
    if (secret.length === 0) return { headers: open };
    const [key] = this.#keys;
    if (key === undefined) {
      throw new JobSecretError(
        'The request has credentials for the broker, which a job can keep only ' +
          'when JOB_SECRET is set. Set it, or send the request without respond-async.',
      );
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce);
    const text = Buffer.concat([cipher.update(JSON.stringify(Object.fromEntries(secret))), cipher.final()]);
    return {
      headers: open,
      sealedHeaders: Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64'),
    };
  }

  /** @throws JobSecretError when the key is another one */
  open({ headers, sealedHeaders }: Pick<JobNeeds, 'headers' | 'sealedHeaders'>): Headers {
    if (sealedHeaders === undefined) return headers;
    const bytes = Buffer.from(sealedHeaders, 'base64');
    for (const key of this.#keys) {
      const opened = decrypted(bytes, key);
      if (opened !== undefined) return { ...headers, ...(JSON.parse(opened) as Headers) };
    }
    throw new JobSecretError(
      'The credentials of this job cannot be read: JOB_SECRET is not the one that they were kept with.',
    );
  }
}

function decrypted(bytes: Buffer, key: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
      decipher.final(),
    ]).toString();
  } catch {
    return undefined;
  }
}
