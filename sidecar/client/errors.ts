import { connectionProblem, hasNoConnection } from '../shared/connection-problem.js';
import { parseJson } from '../shared/json/lossless-json.js';

/** A problem (RFC 9457); it may have more members. */
export interface Problem {
  readonly type?: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly [member: string]: unknown;
}

/** The gateway answered with a status other than 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly problem: Problem,
    /** Retry-After as the gateway sent it: seconds to wait before the next try. */
    readonly retryAfter: string | undefined,
  ) {
    super(problem.detail ?? problem.title);
  }
}

/** The gateway could not be reached, or its answer broke off. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(
    baseUrl: string,
    what: string,
    /** Whether the request may have changed something, because perhaps only its answer was lost. */
    readonly mayHaveArrived: boolean,
    options: ErrorOptions,
  ) {
    super(`The gateway at ${baseUrl} ${what}.`, options);
  }
}

/** The gateway answered with something that is not JSON. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
}

/**
 * Whether an HTTP status means that a request was refused rather than that it failed: 3xx, 4xx and 501, except for the
 * temporary 408 and 429.
 */
export function isRefusedStatus(status: number): boolean {
  return (status >= 300 && status < 500 && status !== 408 && status !== 429) || status === 501;
}

/**
 * Turns an error into an UnreachableError.
 *
 * @param error thrown by `fetch`, or while its answer was read
 * @param isRead whether the request changes nothing
 */
export function unreachableError(baseUrl: string, error: unknown, isRead: boolean): UnreachableError {
  const cause = deepestCause(error);
  const message = cause instanceof Error ? cause.message : String(cause);
  // A proxy that refuses to connect is an "abort" of undici, and the number that it answered is only in the message.
  const [, proxyStatus] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const coded = code === '' ? message : connectionProblem(code);
  const why =
    proxyStatus === undefined ? coded : `the proxy answered ${proxyStatus} instead of connecting to it`;
  // fetch refuses some ports, such as those of mail servers, without sending anything.
  const isSent = proxyStatus === undefined && !hasNoConnection(code) && why !== 'bad port';
  const what = isSent ? 'cannot be reached, or its answer was cut off' : 'cannot be reached';
  return new UnreachableError(baseUrl, `${what}: ${why}`, isSent && !isRead, { cause: error });
}

function deepestCause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? deepestCause(error.cause) : error;
}

/**
 * Reads an error answer as a problem. If it is not a problem, the detail is its first 500 characters; of an HTML page, it says
 * that the gateway did not send it.
 */
export async function readApiError(response: Response): Promise<ApiError> {
  const { status, statusText } = response;
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  const text = await response.text().catch(() => '');
  const { title, detail, ...members } = membersIn(text);
  // HTTP/2 has no words for a status.
  const words = statusText === '' ? `HTTP ${status}` : statusText;
  if (typeof title !== 'string' && typeof detail !== 'string') {
    const isPage = /html/i.test(response.headers.get('content-type') ?? '');
    const page = `${words}. The answer is an HTML page: it comes from a proxy or from the broker, not from the gateway.`;
    const said = isPage ? page : text.slice(0, 500);
    return new ApiError({ title: words, status, ...(said === '' ? {} : { detail: said }) }, retryAfter);
  }
  const said = typeof detail === 'string' ? { detail } : {};
  const name = typeof title === 'string' ? title : words;
  return new ApiError({ ...members, title: name, ...said, status }, retryAfter);
}

function membersIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(parseJson(text) as object | null) };
  } catch {
    return {};
  }
}
