import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import pLimit from 'p-limit';
import { Agent, interceptors, request } from 'undici';
import { ByteCollector } from '../shared/byte-collector.js';
import type { Clock } from '../shared/clock.js';
import { defined } from '../shared/defined.js';
import { errorCode } from '../shared/errors.js';
import { ArchiveUnavailableError } from './errors.js';
import { sha256 } from './segment.js';
import type { ArchiveStorage } from './storage.js';

export interface BucketOptions {
  readonly bucket: string;
  /** Ends with a slash, or is empty. */
  readonly prefix: string;
  /** The URL of an S3-compatible service, for path-style requests; undefined for AWS. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Time limit of one request. @default 15 s */
  readonly timeoutMs?: number;
}

interface BucketRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Relative to the bucket; empty for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

interface BucketReply {
  readonly status: number;
  readonly body: Buffer;
}

const TIMEOUT_MS = 15_000;

/** Pauses between the attempts of a request, in milliseconds. */
const RETRY_DELAYS_MS = [200, 800, 2000];

/** Maximum size of a reply; segments, and lists of a thousand names, are smaller. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

const MAX_LISTED_NAMES = 1_000_000;

const MAX_CONCURRENT_REMOVALS = 8;

/**
 * Archives in a bucket of S3 or a compatible service. Requests are signed with the digest of their body, so what
 * arrives is what was sent. Redirects are not followed, because a signature is valid for one host only.
 */
export class BucketStorage implements ArchiveStorage {
  readonly #options: BucketOptions;
  readonly #bucketUrl: string;
  /** A separate pool: unfinished requests must not delay others, nor outlive this object. */
  readonly #agent = new Agent({ keepAliveTimeout: 10_000, connect: { timeout: 10_000 } }).compose(
    interceptors.decompress({ skipErrorResponses: false }),
  );
  readonly #closing = new AbortController();

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#bucketUrl = bucketUrl(options);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const { status, body } = await this.#send({ method: 'PUT', key: name, body: bytes });
    if (status !== 200) throw unexpectedReply(status, body);
  }

  async get(name: string): Promise<Buffer | undefined> {
    const { status, body } = await this.#send({ method: 'GET', key: name });
    if (status === 404 && errorCodeIn(body) !== 'NoSuchBucket') return undefined;
    if (status !== 200) throw unexpectedReply(status, body);
    return body;
  }

  async list(folder: string): Promise<readonly string[]> {
    const { prefix } = this.#options;
    const keys = await this.#listAll({ prefix: `${prefix}${folder}/` }, 'Key');
    return keys.map((key) => key.slice(prefix.length)).sort();
  }

  async folders(): Promise<readonly string[]> {
    const { prefix } = this.#options;
    const found = await this.#listAll({ prefix, delimiter: '/' }, 'Prefix');
    return found.map((each) => each.slice(prefix.length, -1)).filter((name) => name !== '');
  }

  async remove(folder: string, last?: string): Promise<void> {
    const keys = await this.list(folder);
    const kept = keys.filter((key) => key === `${folder}/${last}`);
    await this.#removeAll(keys.filter((key) => !kept.includes(key)));
    await this.#removeAll(kept);
  }

  /** Removes objects. After a failure, starts no further removals and waits for those in progress. */
  async #removeAll(keys: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    await pLimit(MAX_CONCURRENT_REMOVALS).map(keys, async (key) => {
      if (failures.length === 0) await this.#removeOne(key).catch((error: unknown) => failures.push(error));
    });
    if (failures.length > 0) throw failures[0];
  }

  async #removeOne(key: string): Promise<void> {
    const { status, body } = await this.#send({ method: 'DELETE', key });
    if (status !== 204 && status !== 200 && status !== 404) throw unexpectedReply(status, body);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  async #listAll(
    query: Readonly<Record<string, string>> & { readonly prefix: string },
    member: 'Key' | 'Prefix',
  ): Promise<readonly string[]> {
    const found: string[] = [];
    let token: string | undefined;
    do {
      const page = { 'list-type': '2', ...query, ...defined({ 'continuation-token': token }) };
      const { status, body } = await this.#send({ method: 'GET', query: page });
      if (status !== 200) throw unexpectedReply(status, body);
      const text = body.toString('utf8');
      // A proxy in between may answer 200 with its own page.
      if (!text.includes('<ListBucketResult'))
        throw new ArchiveUnavailableError(
          'The archive bucket did not answer with a list of objects. Is there a proxy in between?',
        );
      const within = member === 'Key' ? 'Contents' : 'CommonPrefixes';
      for (const [, inner = ''] of text.matchAll(new RegExp(`<${within}>([^]*?)</${within}>`, 'g'))) {
        const name = elementText(inner, member) ?? '';
        // Listed objects are erased with the archive, so an object outside the prefix may belong to another archive.
        if (!name.startsWith(query.prefix))
          throw new ArchiveUnavailableError('The archive bucket lists objects outside the requested prefix.');
        found.push(name);
      }
      const next = elementText(text, 'NextContinuationToken');
      const hasMore = elementText(text, 'IsTruncated') === 'true';
      // Objects missing from the listing would be neither read nor erased.
      if (hasMore && (next === undefined || next === token || found.length >= MAX_LISTED_NAMES))
        throw new ArchiveUnavailableError(
          'The archive bucket lists only a part of its objects, and does not say where the rest begins.',
        );
      token = hasMore ? next : undefined;
    } while (token !== undefined);
    return found;
  }

  /** Sends a request, and retries it unless another attempt would give the same answer. @throws ArchiveUnavailableError */
  async #send(sent: BucketRequest): Promise<BucketReply> {
    for (let attempt = 0; ; attempt += 1) {
      const delayMs = RETRY_DELAYS_MS[attempt];
      let failure: ArchiveUnavailableError;
      try {
        const reply = await this.#sendOnce(sent);
        if (!isTransient(reply)) return reply;
        failure = unexpectedReply(reply.status, reply.body);
      } catch (error) {
        if (error instanceof ArchiveUnavailableError) throw error;
        failure = noReply(error);
      }
      if (delayMs === undefined || this.#closing.signal.aborted) throw failure;
      await this.#options.clock.sleep(delayMs, this.#closing.signal).catch(() => {});
    }
  }

  async #sendOnce({ method, key, query = {}, body }: BucketRequest): Promise<BucketReply> {
    const { prefix, timeoutMs = TIMEOUT_MS } = this.#options;
    const url = new URL(key === undefined ? this.#bucketUrl : `${this.#bucketUrl}${prefix}${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signed = await this.#signed(method, url, body);
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]);
    const reply = await request(url, {
      method,
      signal,
      dispatcher: this.#agent,
      headers: { ...signed, 'accept-encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
    });
    const received = new ByteCollector();
    for await (const chunk of reply.body as AsyncIterable<Buffer>) {
      received.add(chunk);
      if (received.length > MAX_REPLY_BYTES)
        throw new ArchiveUnavailableError('The answer of the archive bucket is too large.');
    }
    return { status: reply.statusCode, body: received.concat() };
  }

  async #signed(method: string, url: URL, body: Uint8Array | undefined): Promise<Record<string, string>> {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#options;
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      region,
      accessKeyId,
      secretAccessKey,
      service: 's3',
      ...defined({ sessionToken }),
      headers: { 'x-amz-content-sha256': sha256(body ?? ''), ...(body === undefined ? {} : md5Field(body)) },
    });
    const { headers } = await signer.sign();
    return Object.fromEntries(headers.entries());
  }
}

/** A bucket with Object Lock requires this header, and servers that support no other checksum support this one. */
function md5Field(body: Uint8Array): Readonly<Record<string, string>> {
  try {
    return { 'content-md5': createHash('md5').update(body).digest('base64') };
  } catch {
    // OpenSSL has no MD5 in FIPS mode.
    return {};
  }
}

/** Returns the root URL of a bucket. AWS certificates do not cover the host name of a bucket with dots in its name. */
export function bucketUrl({
  bucket,
  endpoint,
  region,
}: Pick<BucketOptions, 'bucket' | 'endpoint' | 'region'>): string {
  if (endpoint !== undefined) return `${endpoint.origin}${endpoint.pathname.replace(/\/+$/, '')}/${bucket}/`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`;
}

/** Whether a retry may succeed. S3 answers 400 if a request took too long to arrive. */
function isTransient({ status, body }: BucketReply): boolean {
  return (
    status === 408 ||
    status === 429 ||
    status >= 500 ||
    (status === 400 && errorCodeIn(body) === 'RequestTimeout')
  );
}

const REDIRECTED = ' Redirects are not followed: check AWS_REGION and AWS_ENDPOINT_URL.';

/** Advice on what to do about an error, by its code. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['AuthorizationHeaderMalformed', ' The signature is for another region: check AWS_REGION.'],
  ['RequestTimeTooSkewed', ' The clocks of this machine and of the bucket differ too much.'],
  [
    'InvalidObjectState',
    ' A lifecycle rule has moved the object to a storage class from which it must be restored in the bucket first.',
  ],
  ['ExpiredToken', ' AWS_SESSION_TOKEN has expired: restart the gateway with a new one.'],
]);

/** Makes the error for an unexpected answer. Of its body, only the error code is shown, because the rest may contain names. */
function unexpectedReply(status: number, body: Buffer): ArchiveUnavailableError {
  const code = errorCodeIn(body);
  const said = code === undefined ? '' : ` ${code.slice(0, 60)}`;
  const isRedirect = status >= 300 && status < 400;
  const advice = isRedirect ? REDIRECTED : (ADVICE.get(code ?? '') ?? '');
  return new ArchiveUnavailableError(`The archive bucket answered ${String(status)}${said}.${advice}`);
}

function noReply(error: unknown): ArchiveUnavailableError {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const code = errorCode(error);
  const what = isLate
    ? 'does not answer in time'
    : `cannot be reached${code === undefined ? '' : ` (${code})`}`;
  return new ArchiveUnavailableError(`The archive bucket ${what}.`, { cause: error });
}

function errorCodeIn(body: Buffer): string | undefined {
  return elementText(body.toString('utf8', 0, 4096), 'Code');
}

/**
 * Returns the text of the first element with this name. The elements used here have no child elements and no escaped
 * characters.
 */
function elementText(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}
