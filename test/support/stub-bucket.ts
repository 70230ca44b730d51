import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Listening, listening } from './listening.js';

export const BUCKET_KEYS = {
  region: 'eu-test-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
} as const;

/** Called for each request; if it returns true, it has taken over the answer. */
export type BucketFault = (
  request: { readonly method: string; readonly key: string },
  response: ServerResponse,
) => boolean;

/**
 * A bucket with Object Lock as in S3, with three names in a page. It recomputes each signature from
 * the received request line, headers and body (AWS Signature Version 4), and refuses a body with
 * another digest.
 */
export class StubBucket {
  readonly objects = new Map<string, Buffer>();
  readonly requests: string[] = [];
  /** The headers of the last request. */
  headers: IncomingHttpHeaders = {};
  fault: BucketFault = () => false;
  #server!: Listening;

  static async open(): Promise<StubBucket> {
    const bucket = new StubBucket();
    bucket.#server = await listening(
      createServer((request, response) => void bucket.#answer(request, response)),
    );
    return bucket;
  }

  get endpoint(): URL {
    return new URL(this.#server.url);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url = '' } = request;
    const { pathname, searchParams } = new URL(url, 'http://stub');
    const [, bucket = '', ...rest] = decodeURIComponent(pathname).split('/');
    const key = rest.join('/');
    this.headers = request.headers;
    this.requests.push(`${method} ${key}`);
    if (this.fault({ method, key }, response)) return;
    const refusal = !isSigned(request, body)
      ? ([403, 'SignatureDoesNotMatch'] as const)
      : bucket !== 'archive'
        ? ([404, 'NoSuchBucket'] as const)
        : method === 'PUT' && request.headers['content-md5'] !== md5(body)
          ? ([400, 'InvalidRequest'] as const)
          : undefined;
    if (refusal !== undefined) refuse(response, refusal[0], refusal[1]);
    else this.#work(method, key, { body, searchParams }, response);
  }

  #work(
    method: string,
    key: string,
    { body, searchParams }: { readonly body: Buffer; readonly searchParams: URLSearchParams },
    response: ServerResponse,
  ): void {
    const object = this.objects.get(key);
    if (method === 'PUT') {
      this.objects.set(key, body);
      response.writeHead(200).end();
    } else if (method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
    } else if (key === '') this.#list(searchParams, response);
    else if (object === undefined) refuse(response, 404, 'NoSuchKey');
    else response.writeHead(200).end(object);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const delimiter = query.get('delimiter');
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    const shown =
      delimiter === null
        ? keys
        : [...new Set(keys.map((key) => key.slice(0, key.indexOf(delimiter, prefix.length) + 1)))];
    const page = shown.filter((name) => name > after).slice(0, 3);
    const isTruncated = shown.at(-1) !== page.at(-1);
    const items = page.map((name) =>
      delimiter === null
        ? `<Contents><Key>${name}</Key><Size>1</Size></Contents>`
        : `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`,
    );
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1) ?? ''}</NextContinuationToken>` : '';
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<?xml version="1.0"?><ListBucketResult><Prefix>${prefix}</Prefix><IsTruncated>${String(isTruncated)}</IsTruncated>${next}${items.join('')}</ListBucketResult>`,
      );
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status)
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
}

/** Whether the signature is correct: docs.aws.amazon.com, "Create a signed AWS API request". */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const { headers, method = '', url = '' } = request;
  const digest = sha256(body);
  if (headers['x-amz-content-sha256'] !== digest) return false;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (match === null) return false;
  const [, id, day = '', region = '', names = '', signature] = match;
  if (id !== BUCKET_KEYS.accessKeyId || region !== BUCKET_KEYS.region) return false;
  const [path = '', search = ''] = url.split('?');
  const canonical = [
    method,
    canonicalPath(path),
    search.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    digest,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const parts = [day, region, 's3', 'aws4_request'];
  const key = parts.reduce<Buffer | string>(hmac, `AWS4${BUCKET_KEYS.secretAccessKey}`);
  return hmac(key, toSign).toString('hex') === signature && names.split(';').includes('host');
}

/** Encodes each part of the path as the specification says, however it was sent. */
function canonicalPath(path: string): string {
  const escape = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  const encoded = (part: string) =>
    encodeURIComponent(decodeURIComponent(part)).replaceAll(/[!'()*]/g, escape);
  return path.split('/').map(encoded).join('/');
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function md5(body: Buffer): string {
  return createHash('md5').update(body).digest('base64');
}
