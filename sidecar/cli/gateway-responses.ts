import { ApiError, isRefusedStatus, NotJsonError, UnreachableError } from '../client/errors.js';
import { CliError, EXIT, failure } from './exit-codes.js';

/** Maximum number of errors in a body that are shown. */
const MAX_FAULTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Turns an error from a gateway into a CliError with the gateway's message. Adds the sentences to a CliError, and returns any
 * other error unchanged.
 *
 * @param more sentences, each for a line of its own
 */
export function gatewayFailure(error: unknown, ...more: readonly string[]): unknown {
  const end = (exitCode: CliError['exitCode'], message: string) =>
    new CliError(exitCode, [message, ...more].join('\n'), { cause: error });
  if (error instanceof ApiError) {
    const code = isRefusedStatus(error.problem.status) ? EXIT.refused : EXIT.failed;
    return end(code, problemText(error));
  }
  if (error instanceof UnreachableError || error instanceof NotJsonError)
    return end(EXIT.failed, error.message);
  return error instanceof CliError ? end(error.exitCode, error.message) : error;
}

function problemText({ problem, message }: ApiError): string {
  const { status, errors } = problem;
  const faults = Array.isArray(errors) ? errors.slice(0, MAX_FAULTS).map(faultText) : [];
  // The message of a single fault says the same.
  const isSaid = faults.length === 1 && message.includes(faults[0]?.replace(/^\S+: /, '') ?? '');
  const words = [message, ...(isSaid ? [] : faults.map((fault) => `  ${fault}`))].join('\n');
  return [`The gateway answered ${status}: ${words}`, ...hintsFor(status)].join('\n');
}

/** Says what is wrong, and where: `/schema/required: …`. */
function faultText(fault: unknown): string {
  const { pointer, detail } = Object(fault) as Readonly<Record<string, unknown>>;
  if (typeof detail !== 'string') return JSON.stringify(fault);
  return typeof pointer === 'string' && pointer !== '' ? `${pointer}: ${detail}` : detail;
}

function hintsFor(status: number): readonly string[] {
  if (status === 401)
    return [
      'The token is taken from NGSILD_GATEWAY_TOKEN, or from the token command of a context; ' +
        'an access token begins with "Bearer ", a password with "Basic ".',
    ];
  if (status === 412)
    return ['Somebody changed it in the meantime: run the command again to see what it would change now.'];
  return REDIRECTS.has(status)
    ? ['A redirect leads to https or to the sign-in of a proxy: check the URL of the gateway.']
    : [];
}

/** Waits for an answer. @returns undefined if it is 404 */
export async function undefinedIfNotFound<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.problem.status === 404) return undefined;
    throw error;
  }
}

/** The type of a value, or the strings that are allowed. */
type Kind = 'string' | 'number' | 'array' | 'object' | readonly string[];

/**
 * Returns a document if it has the members that will be read. A gateway of another version, or a proxy in between, may answer
 * differently.
 *
 * @param what the kind of document, for the error message
 */
export function requireMembers<Value>(
  document: Value,
  what: string,
  members: { readonly [Name in keyof NonNullable<Value>]?: Kind },
): NonNullable<Value> {
  const found = Object(document) as NonNullable<Value>;
  const kinds = Object.entries<Kind | undefined>(members);
  if (kinds.every(([name, kind]) => isOf(kind, found[name as keyof typeof found]))) return found;
  throw failure(`The gateway answered with something that is not ${what}.`);
}

function isOf(kind: Kind | undefined, value: unknown): boolean {
  if (typeof kind === 'object') return typeof value === 'string' && kind.includes(value);
  return kind === (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);
}
