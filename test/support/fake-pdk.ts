import type { Pdk } from '../../kong-plugins/ngsi-ld-purge/pdk.js';

/** One PDK call, named as in `kong.<method>(...)`. */
export interface PdkCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The request a {@link FakeKong} answers for. */
export interface FakeRequest {
  readonly method?: string;
  readonly rawPath?: string;
  /** Kong's normalised path; the raw path if not given. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The result of an authentication plugin; nothing if there was none. */
  readonly consumer?: Readonly<Record<string, unknown>>;
  readonly credential?: Readonly<Record<string, unknown>>;
}

/** What Kong would do with the request after the access phase. */
export interface Outcome {
  readonly target: string | undefined;
  readonly retries: number | undefined;
  readonly timeouts: readonly number[] | undefined;
  /** Request headers as forwarded, in their order, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly answer: { status: number; body: string; headers: Record<string, string> } | undefined;
}

type Trouble = { readonly kind: 'throw' | 'hang' } | { readonly kind: 'answer'; readonly value: unknown };

/**
 * A Kong in memory: it records calls, keeps the state that they change, and can misbehave on a
 * chosen call. As in the real one, no call after `response.exit` resolves.
 */
export class FakeKong {
  readonly calls: PdkCall[] = [];
  readonly pdk: Pdk;
  readonly #troubles = new Map<string, Trouble>();
  readonly #headers: Map<string, string>;
  readonly #request: FakeRequest;
  #target: string | undefined;
  #retries: number | undefined;
  #timeouts: readonly number[] | undefined;
  #answer: Outcome['answer'];
  #exited = false;

  constructor(request: FakeRequest = {}) {
    this.#request = request;
    this.#headers = new Map(
      Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const path = request.rawPath ?? '/ngsi-ld/v1/entities';
    this.pdk = {
      client: {
        getConsumer: () => this.#call('client.getConsumer', [], () => request.consumer),
        getCredential: () => this.#call('client.getCredential', [], () => request.credential),
      },
      log: { err: (message) => this.#call('log.err', [message]) },
      request: {
        getMethod: () => this.#call('request.getMethod', [], () => request.method ?? 'DELETE'),
        getRawPath: () => this.#call('request.getRawPath', [], () => path),
        getPath: () => this.#call('request.getPath', [], () => this.#request.path ?? path),
        getHeader: (name) =>
          this.#call('request.getHeader', [name], () => this.#headers.get(name.toLowerCase())),
      },
      service: {
        setTarget: (host, port) =>
          this.#call('service.setTarget', [host, port], () => {
            this.#target = `${host}:${port}`;
            this.#headers.set('host', host);
          }),
        setRetries: (retries) =>
          this.#call('service.setRetries', [retries], () => void (this.#retries = retries)),
        setTimeouts: (...ms) => this.#call('service.setTimeouts', ms, () => void (this.#timeouts = ms)),
        request: {
          setHeader: (name, value) =>
            this.#call('service.request.setHeader', [name, value], () => {
              this.#headers.set(name.toLowerCase(), value);
            }),
          setHeaders: (headers) =>
            this.#call('service.request.setHeaders', [headers], () => {
              for (const [name, value] of Object.entries(headers)) {
                if (typeof value === 'string') this.#headers.set(name.toLowerCase(), value);
                else if (value.length === 0) this.#headers.delete(name.toLowerCase());
                else throw new Error('the plugin sets no lists');
              }
            }),
        },
      },
      response: {
        exit: (status, body, headers) =>
          this.#call('response.exit', [status, body, headers], () => {
            this.#exited = true;
            this.#answer = { status, body, headers };
          }),
      },
    };
  }

  /** Makes every call of a method fail, never resolve, or give a wrong answer. */
  trouble(method: string, trouble: Trouble): this {
    this.#troubles.set(method, trouble);
    return this;
  }

  /** What Kong would do with the request now. */
  get outcome(): Outcome {
    return {
      target: this.#target,
      retries: this.#retries,
      timeouts: this.#timeouts,
      headers: this.#headers,
      answer: this.#answer,
    };
  }

  /** The names of the calls, in order. */
  get methods(): string[] {
    return this.calls.map((call) => call.method);
  }

  async #call(method: string, args: readonly unknown[], effect?: () => unknown): Promise<unknown> {
    this.calls.push({ method, args });
    const trouble = this.#troubles.get(method);
    if (this.#exited || trouble?.kind === 'hang') return new Promise(() => undefined);
    if (trouble?.kind === 'throw') throw new Error(`PDK method kong.${method} failed`);
    if (trouble?.kind === 'answer') return trouble.value;
    return effect?.();
  }
}
