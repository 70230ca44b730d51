import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { ByteCollector } from '../../shared/byte-collector.js';
import { errorCode, GatewayError } from '../../shared/errors.js';
import { exceededJsonLimit, type JsonLimits } from '../../shared/json/limits.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { AddressRefused, type ResolveHost, systemResolve, vettedLookup } from './vetted-lookup.js';

/** Why a remote document is not available. For the first two reasons, nothing was sent to the host. */
export type RemoteFailure =
  | 'origin-not-allowed'
  | 'address-not-allowed'
  | 'unreachable'
  | 'timeout'
  | 'status'
  | 'too-many-redirects'
  | 'too-large'
  | 'media-type'
  | 'not-json';

/** A document of another origin that could not be fetched, or is not acceptable. */
export class RemoteDocumentError extends GatewayError {
  readonly kind = 'internalError';
  readonly failure: RemoteFailure;
  /** The requested URL; after redirects, the message names the last one. */
  readonly url: string;

  constructor(failure: RemoteFailure, url: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.url = url;
  }
}

/** A document of another origin, such as a context or a schema. */
interface RemoteDocument {
  /** The final URL after redirects, without fragment. */
  readonly url: string;
  readonly text: string;
  /** The parsed text. */
  readonly document: unknown;
}

/** Fetches JSON documents from allowed origins only. */
export interface RemoteDocuments {
  /** Whether a URL has an allowed origin. */
  allows(url: string): boolean;
  /**
   * Fetches one document, without caching.
   *
   * @throws RemoteDocumentError, or the signal's reason if the signal aborts
   */
  fetch(url: string, signal?: AbortSignal): Promise<RemoteDocument>;
  close(): Promise<void>;
}

/** The origins that may be fetched from, and the limits of a fetch. */
export interface RemoteDocumentsOptions {
  /** E.g. `https://smart-data-models.github.io`; scheme, host and port must match. */
  readonly allowedOrigins: readonly string[];
  /** Time limit for one document, including redirects. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly maxRedirects?: number;
  /** Replaces the connections, for tests; replacing them also disables the vetting of addresses. */
  readonly dispatcher?: Dispatcher;
  /** Replaces the system's resolver, for tests. */
  readonly resolveHost?: ResolveHost;
}

const ACCEPT = 'application/ld+json, application/schema+json;q=0.9, application/json;q=0.9, text/plain;q=0.1';
/**
 * JSON, and the media types that servers send for files of unknown type: raw.githubusercontent.com sends plain text,
 * nginx and buckets send octet streams for `.jsonld`, and some servers send no type.
 */
const MEDIA_TYPES =
  /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:json|plain)|(?:application|binary)\/octet-stream|)$/;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** How much to read of a body that is not needed. */
const DUMP_BYTES = 16 * 1024;

/** Makes a fetcher with its own connections. If no origin is allowed, nothing is ever fetched. */
export function createRemoteDocuments(options: RemoteDocumentsOptions): RemoteDocuments {
  const { timeoutMs = 10_000, maxBytes = 5 * 1024 * 1024, maxRedirects = 5 } = options;
  const origins = new Set(options.allowedOrigins.map((origin) => new URL(origin).origin));
  const dispatcher =
    options.dispatcher ??
    new Agent({
      connect: { timeout: timeoutMs, lookup: vettedLookup(options.resolveHost ?? systemResolve) },
      // A single deadline covers the whole document.
      headersTimeout: 0,
      bodyTimeout: 0,
    });

  const targetOf = (url: string): URL | undefined => {
    const target = URL.parse(url) ?? undefined;
    if (target !== undefined) target.hash = '';
    // Credentials in a URL would be sent, and shown in messages.
    const isPlain = target !== undefined && target.username === '' && target.password === '';
    return isPlain && /^https?:$/.test(target.protocol) && origins.has(target.origin) ? target : undefined;
  };

  async function request(url: string, signal: AbortSignal, hops: number): Promise<RemoteDocument> {
    const target = targetOf(url);
    if (target === undefined) {
      throw new Failed(
        'origin-not-allowed',
        `${shown(url)} is not from an origin that documents may be fetched from`,
      );
    }
    if (hops > maxRedirects) {
      throw new Failed(
        'too-many-redirects',
        `more than ${maxRedirects} redirects, the last to ${target.href}`,
      );
    }
    const response = await dispatcher.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'GET',
      headers: { accept: ACCEPT, 'accept-encoding': 'identity', 'user-agent': 'ngsi-ld-gateway' },
      signal,
    });
    const next = nextUrl(response, target);
    if (next !== undefined) {
      await response.body.dump({ limit: DUMP_BYTES });
      return request(next, signal, hops + 1);
    }
    return { url: target.href, ...(await read(response, target, maxBytes)) };
  }

  return {
    allows: (url) => targetOf(url) !== undefined,
    fetch: async (url, signal) => {
      signal?.throwIfAborted();
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        return await request(url, signal === undefined ? deadline : AbortSignal.any([signal, deadline]), 0);
      } catch (error) {
        signal?.throwIfAborted();
        const failed = deadline.aborted
          ? new Failed('timeout', `no complete answer within ${timeoutMs} ms`)
          : failureOf(error);
        const message = `The document ${shown(url)} could not be fetched: ${failed.message}.`;
        throw new RemoteDocumentError(failed.failure, url, message, { cause: error });
      }
    },
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.destroy();
    },
  };
}

/** A failure of one request; the message completes "could not be fetched: …". */
class Failed extends Error {
  readonly failure: RemoteFailure;

  constructor(failure: RemoteFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

function failureOf(error: unknown): Failed {
  if (error instanceof Failed) return error;
  if (error instanceof AddressRefused) {
    return new Failed('address-not-allowed', 'its host name resolves to a private or special address');
  }
  const code = errorCode(error) ?? 'unknown reason';
  if (/^Z_/.test(code)) return new Failed('not-json', `it is not valid gzip (${code})`);
  return new Failed('unreachable', `its host cannot be reached (${code})`);
}

/** Returns the target of a redirect, or of a page's link to its own JSON-LD (JSON-LD 1.1 API § 9.4.3). */
function nextUrl({ statusCode, headers }: Dispatcher.ResponseData, target: URL): string | undefined {
  const location = REDIRECTS.has(statusCode) ? single(headers['location']) : undefined;
  const isPage = statusCode === 200 && !MEDIA_TYPES.test(mediaType(headers));
  const link = location ?? (isPage ? alternateOf(single(headers['link'])) : undefined);
  return link === undefined ? undefined : URL.parse(link, target.href)?.href;
}

/** Limits of a document's content, because it is parsed on the event loop. */
const WEIGHT: JsonLimits = { elements: 100_000, depth: 500 };

async function read(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  target: URL,
  maxBytes: number,
): Promise<{ text: string; document: unknown }> {
  const refuse = async (failure: RemoteFailure, message: string): Promise<never> => {
    await body.dump({ limit: DUMP_BYTES });
    throw new Failed(failure, message);
  };
  if (statusCode !== 200) return refuse('status', `${target.href} answers ${statusCode}`);
  const type = mediaType(headers);
  if (!MEDIA_TYPES.test(type)) return refuse('media-type', `it is ${type}, not JSON`);
  const encoding = (single(headers['content-encoding']) ?? 'identity').toLowerCase();
  const isPacked = encoding === 'gzip' || encoding === 'x-gzip';
  // Some servers store files compressed, and send them so regardless of the request.
  if (encoding !== 'identity' && !isPacked)
    return refuse('media-type', `it is encoded as ${encoding}, which was not requested`);
  const tooLarge = `it is larger than ${maxBytes} bytes`;
  if (Number(headers['content-length'] ?? 0) > maxBytes) return refuse('too-large', tooLarge);

  const collected = new ByteCollector();
  const unpacked = isPacked ? pipeline(body, createGunzip(), () => {}) : body;
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    collected.add(chunk);
    // Leaving the loop closes the connection.
    if (collected.length > maxBytes) throw new Failed('too-large', tooLarge);
  }
  const bytes = collected.concat();
  const excess = exceededJsonLimit(bytes, WEIGHT);
  if (excess !== undefined) throw new Failed('too-large', `it ${excess}`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, document: parseJson(text) };
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not valid UTF-8';
    throw new Failed('not-json', `it is not valid JSON (${reason})`);
  }
}

function mediaType(headers: Dispatcher.ResponseData['headers']): string {
  return (single(headers['content-type']) ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

/** Shortens a URL for messages, without credentials. */
function shown(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//').slice(0, 300);
}

/** One link of a Link header (RFC 8288 § 3): its target and its parameters as written. */
const LINK = /<([^<>]*)>((?:[^,"]|"[^"]*")*)/g;

/** Returns the target of `rel="alternate"; type="application/ld+json"` in a Link header; undefined if there is none. */
export function alternateOf(linkHeader: string | undefined): string | undefined {
  for (const [, target, parameters = ''] of (linkHeader ?? '').matchAll(LINK)) {
    if (
      parameter(parameters, 'rel') === 'alternate' &&
      parameter(parameters, 'type') === 'application/ld+json'
    ) {
      return target;
    }
  }
  return undefined;
}

function parameter(parameters: string, name: string): string | undefined {
  for (const part of parameters.split(';')) {
    const [key, value] = part.split(/=(.*)/s);
    if (key?.trim().toLowerCase() === name)
      return value
        ?.trim()
        .replace(/^"(.*)"$/, '$1')
        .toLowerCase();
  }
  return undefined;
}
