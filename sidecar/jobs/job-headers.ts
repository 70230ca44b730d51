import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { PurgeError, QueryRefusedError } from '../purge/index.js';
import { defined } from '../shared/defined.js';
import type { JobResumeData, PurgeRecord } from '../store/index.js';

/** The headers of jobs: those that say where the entities are, and the storage of credentials. */

/** Headers by lower-case name. */
type Headers = Readonly<Record<string, string>>;

/**
 * Headers that say where the entities are and what their names mean. A job that follows a purge takes them from that purge, and
 * a run from its policy.
 */
export const PLACE_HEADERS = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link'] as const;

type PlaceHeader = (typeof PLACE_HEADERS)[number];

/**
 * Returns the headers of a job that follows a purge: the place of the purge, with the credentials of the new request.
 *
 * @throws QueryRefusedError if the request names another tenant or @context
 */
export function headersAt(given: Headers, { tenant, link, fiware }: PurgeRecord): Headers {
  const { service, servicePath } = fiware ?? {};
  const place: Readonly<Record<PlaceHeader, string | undefined>> = {
    // Also for a purge with Fiware-Service alone: a record does not say whether its request had both, and without this one,
    // many brokers would take the default tenant.
    'ngsild-tenant': tenant,
    'fiware-service': service,
    'fiware-servicepath': servicePath,
    link,
  };
  const expected = { ...place, 'fiware-service': service ?? tenant };
  const other = PLACE_HEADERS.find((name) => given[name] !== undefined && given[name] !== expected[name]);
  if (other !== undefined)
    throw new QueryRefusedError(
      'invalidRequest',
      `The purge was for ${tenant === undefined ? 'the default tenant' : `the tenant ${tenant}`}, ` +
        `and this applies to the same tenant and @context: leave the header ${other} out.`,
    );
  const others = Object.entries(given).filter(([name]) => !Object.hasOwn(place, name));
  return { ...Object.fromEntries(others), ...defined(place) };
}

/** Headers with credentials. They are stored encrypted, or not at all. */
const SECRET_HEADERS = ['authorization', 'x-auth-token'];

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The credentials of a job cannot be stored, or can no longer be read. */
export class JobSecretError extends PurgeError {
  readonly kind = 'jobSecretMissing';
  override readonly outcome = 'refused';
}

/** Encrypts the credentials of jobs with AES-256-GCM. */
export class HeaderSealer {
  readonly #keys: readonly Buffer[];

  /**
   * @param secrets the first one encrypts; all of them decrypt, so that a secret can be replaced while jobs wait. If
   * there are none, jobs with credentials are refused
   */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'ngsi-ld-gateway job headers', KEY_BYTES)),
    );
  }

  /** @throws JobSecretError if there are credentials and no key */
  seal(headers: Headers): Pick<JobResumeData, 'headers' | 'sealedHeaders'> {
    const isSecret = ([name]: readonly [string, string]) => SECRET_HEADERS.includes(name);
    const entries = Object.entries(headers);
    const secret = entries.filter(isSecret);
    const open = Object.fromEntries(entries.filter((entry) => !isSecret(entry)));
    if (secret.length === 0) return { headers: open };
    const [key] = this.#keys;
    if (key === undefined) {
      throw new JobSecretError(
        'The request has credentials for the broker, which a job can store only ' +
          'if JOB_SECRET is set. Set it, or send the request without respond-async.',
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

  /** @throws JobSecretError if no key fits */
  open({ headers, sealedHeaders }: Pick<JobResumeData, 'headers' | 'sealedHeaders'>): Headers {
    if (sealedHeaders === undefined) return headers;
    const bytes = Buffer.from(sealedHeaders, 'base64');
    for (const key of this.#keys) {
      const opened = decrypted(bytes, key);
      if (opened !== undefined) return { ...headers, ...(JSON.parse(opened) as Headers) };
    }
    throw new JobSecretError(
      'The credentials of this job cannot be read: JOB_SECRET has changed since they were stored.',
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
