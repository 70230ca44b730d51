import { Agent, interceptors } from 'undici';
import { ByteCollector } from '../shared/byte-collector.js';
import { quoted } from '../shared/format-value.js';
import { isLoopback } from '../shared/loopback.js';

/** A document of an OpenID provider cannot be used. The message is for the log. */
export class ProviderError extends Error {}

/** Time limit for reading the keys, discovery included, in milliseconds. */
const TIMEOUT_MS = 5000;

/** Maximum size of one document, in bytes. Those of real providers have a few thousand. */
const MAX_BYTES = 256 * 1024;

/** Maximum length of an issuer in messages. Issuers may differ in their last character. */
const MAX_SHOWN_CHARS = 300;

export interface ProviderDocumentsOptions {
  /** The issuer, exactly as tokens name it. */
  readonly issuer: string;
  /** URL of the keys, if it is not discovered. */
  readonly keysUrl?: URL | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Reads the discovery document and the keys of an OpenID provider. Follows no redirects, and trusts no other host. */
export class ProviderDocuments {
  readonly #options: ProviderDocumentsOptions;
  // It is rarely used, so no connection is kept open.
  readonly #agent = new Agent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0 }).compose(
    interceptors.decompress(),
  );

  constructor(options: ProviderDocumentsOptions) {
    this.#options = options;
  }

  /** Reads the key set, unchecked. @throws ProviderError */
  async fetchKeys(): Promise<unknown> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    const url = this.#options.keysUrl ?? (await this.#discoverKeysUrl(signal));
    return this.#fetchJson(url, signal);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Reads the URL of the keys from the discovery document (OpenID Connect Discovery 1.0 § 4.3). */
  async #discoverKeysUrl(signal: AbortSignal): Promise<URL> {
    const { issuer } = this.#options;
    const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const document = await this.#fetchJson(url, signal);
    const named = (name: string) =>
      typeof document === 'object' && document !== null && Object.hasOwn(document, name)
        ? (document as Readonly<Record<string, unknown>>)[name]
        : undefined;
    const found = named('issuer');
    if (found !== issuer)
      throw new ProviderError(
        `The discovery document at ${url.href} names another issuer than AUTH_ISSUER, ` +
          `${quoted(issuer, MAX_SHOWN_CHARS)}: ${typeof found === 'string' ? quoted(found, MAX_SHOWN_CHARS) : 'none'}.`,
      );
    const keys = named('jwks_uri');
    const keysUrl = typeof keys === 'string' ? URL.parse(keys) : undefined;
    if (keysUrl?.origin !== url.origin || !isSecure(keysUrl))
      throw new ProviderError(
        `The discovery document at ${url.href} has no jwks_uri of the same origin. ` +
          'If the keys are meant to be elsewhere, set AUTH_JWKS_URL.',
      );
    return keysUrl;
  }

  async #fetchJson(url: URL, signal: AbortSignal): Promise<unknown> {
    try {
      const { statusCode, body } = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: {
          accept: 'application/json, application/jwk-set+json',
          'accept-encoding': 'identity',
          'user-agent': 'ngsi-ld-gateway',
        },
        reset: true,
        signal,
      });
      if (statusCode !== 200) {
        await body.dump({ limit: MAX_BYTES });
        throw new ProviderError(`${url.href} answered with status ${String(statusCode)}.`);
      }
      const bytes = new ByteCollector();
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes.add(chunk);
        // Leaving the loop closes the connection.
        if (bytes.length > MAX_BYTES)
          throw new ProviderError(`${url.href} is larger than ${String(MAX_BYTES)} bytes.`);
      }
      return JSON.parse(bytes.concat().toString()) as unknown;
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause;
      const why = signal.aborted
        ? 'took too long'
        : cause instanceof SyntaxError
          ? 'is not JSON'
          : 'cannot be reached';
      throw new ProviderError(`${url.href} ${why}.`, { cause });
    }
  }
}

function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}
