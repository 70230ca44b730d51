import { parseJson } from '../shared/json/lossless-json.js';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { Clock } from '../shared/clock.js';
import { CliError, EXIT, isRefusedStatus, type ExitCode } from './exit-codes.js';
import { printable } from './format.js';
import { readEvents } from './server-sent-events.js';

export interface GatewayRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; as application/json, unless the headers say otherwise. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface GatewayClientOptions {
  /** Of the gateway, with the path before `/api/v2` if there is one. */
  readonly url: URL;
  readonly token: string | undefined;
  /** For the broker, through the gateway. */
  readonly authorization: string | undefined;
  readonly clock: Clock;
}

/** Tries to go on with a stream of events that broke off, and the pause before each, in milliseconds. */
const RECONNECTS = 10;
const RECONNECT_MS = 1000;

/** A request may have had its effect, and its answer did not come. */
export class LostAnswerError extends CliError {}

/** The gateway answered with another status than those of success. */
export class GatewayRefusalError extends CliError {
  constructor(
    exitCode: ExitCode,
    message: string,
    readonly status: number,
    /** What it answered, as JSON; undefined where it is not JSON. */
    readonly problem: unknown,
  ) {
    super(exitCode, message);
  }
}

/** There was no connection to send the request on. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** Sends requests to a gateway. */
export class GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #base: string;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#base = options.url.href.replace(/\/+$/, '');
  }

  /**
   * Sends a request and reads the whole answer.
   *
   * @throws CliError for an answer without success, with the gateway's own words, and when it is out of reach
   */
  async send(method: string, path: string, request: GatewayRequest = {}): Promise<GatewayAnswer> {
    const response = await this.#fetch(method, path, request);
    const text = await response.text().catch((error: unknown) => {
      throw this.#outOfReach(error);
    });
    if (!response.ok) throw refusal(response.status, text);
    return { status: response.status, headers: response.headers, text };
  }

  /** As send, of what may not be there. @returns undefined for 404 */
  async find(path: string): Promise<GatewayAnswer | undefined> {
    try {
      return await this.send('GET', path);
    } catch (error) {
      if (error instanceof GatewayRefusalError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** As send, of an answer that is read piece by piece. */
  async download(path: string): Promise<Readable> {
    const response = await this.#fetch('GET', path, { headers: { accept: '*/*' } });
    if (!response.ok) throw refusal(response.status, await response.text());
    if (response.body === null) throw this.#outOfReach(new Error('the answer is empty'));
    return Readable.fromWeb(response.body as WebStream<Uint8Array>);
  }

  /** As send, of JSON. */
  async json(method: string, path: string, request: GatewayRequest = {}): Promise<unknown> {
    const { text } = await this.send(method, path, request);
    return parsed(text);
  }

  /**
   * The events of a path, as JSON. A stream that breaks off is taken up again, after the last event, until `isLast` says of
   * one that it was the last.
   *
   * @throws CliError when that is not possible
   */
  async *events(
    path: string,
    isLast: (event: unknown) => boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<unknown, void> {
    let lastId: string | undefined;
    for (let failures = 0; ;) {
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
        };
        const response = await this.#fetch('GET', path, {
          headers,
          ...(signal === undefined ? {} : { signal }),
        });
        if (!response.ok) throw refusal(response.status, await response.text());
        if (response.body === null) throw new Error('the answer is empty');
        for await (const { id, data } of readEvents(response.body.pipeThrough(new TextDecoderStream()))) {
          const event = parsed(data);
          failures = 0;
          lastId = id ?? lastId;
          yield event;
          if (isLast(event)) return;
        }
        throw this.#outOfReach(new Error('the stream ended before the purge'));
      } catch (error) {
        const isFinal = error instanceof CliError && error.exitCode !== EXIT.failed;
        failures += 1;
        if (signal?.aborted === true || isFinal || failures > RECONNECTS)
          throw error instanceof CliError ? error : this.#outOfReach(error);
        await this.#options.clock.sleep(RECONNECT_MS, signal);
      }
    }
  }

  async #fetch(method: string, path: string, request: GatewayRequest): Promise<Response> {
    const { token, authorization } = this.#options;
    const { body, signal } = request;
    try {
      return await fetch(this.#base + path, {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { 'x-gateway-token': token }),
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw this.#outOfReach(error);
    }
  }

  #outOfReach(error: unknown): CliError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const why = code === '' ? (cause instanceof Error ? cause.message : String(cause)) : code;
    const message = `The gateway at ${this.#base} cannot be reached, or broke off its answer: ${why}.`;
    // fetch refuses some ports, such as those of mail servers, without sending anything.
    return NOT_SENT.has(code) || why === 'bad port'
      ? new CliError(EXIT.failed, message, { cause: error })
      : new LostAnswerError(EXIT.failed, message, { cause: error });
  }
}

function refusal(status: number, text: string): GatewayRefusalError {
  let said: string;
  let problem: unknown;
  try {
    problem = JSON.parse(text);
    const { detail, title, errors } = problem as Readonly<Record<string, unknown>>;
    said = [detail, title].find((text) => typeof text === 'string') ?? '';
    for (const error of Array.isArray(errors) ? errors.slice(0, 5) : [])
      said += `\n  ${JSON.stringify(error)}`;
  } catch {
    said = text.slice(0, 200);
  }
  const hint = status === 401 ? '\nThe token is taken from NGSILD_GATEWAY_TOKEN.' : '';
  const words = said
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
  return new GatewayRefusalError(
    isRefusedStatus(status) ? EXIT.refused : EXIT.failed,
    `The gateway answered ${status}: ${words}${hint}`,
    status,
    problem,
  );
}

/** @throws CliError for what is not JSON */
export function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new CliError(EXIT.failed, 'The gateway answered with something that is not JSON.', { cause });
  }
}
