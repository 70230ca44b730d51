/**
 * Headers in which Kong's authentication plugins name the caller to the service. The sidecar trusts them on a request with our
 * token, so none of them may come from the client: all are removed, and set again from what Kong itself knows.
 */
export const callerHeaders = [
  'X-Consumer-ID',
  'X-Consumer-Custom-ID',
  'X-Consumer-Username',
  'X-Consumer-Groups',
  'X-Credential-Identifier',
  'X-Anonymous-Consumer',
  'X-Authenticated-UserId',
  'X-Authenticated-Scope',
  'X-Authenticated-Groups',
] as const;

/** Headers that name a caller, each with its value. */
export type Caller = Readonly<Partial<Record<(typeof callerHeaders)[number], string>>>;

/**
 * Returns the headers that name the caller, as Kong's own plugins would set them.
 *
 * The identifier of a credential is `client_id` (OAuth 2), `username` (basic, HMAC, LDAP) or `id`; never `key`, which is the
 * secret itself with key authentication. A plugin cannot learn from Kong which user an OAuth 2 token stands for, nor which
 * groups and scopes were checked, so these headers are not set.
 *
 * @param consumer the answer to `kong.client.getConsumer()`: an object, or nothing if no consumer was found
 * @param credential the answer to `kong.client.getCredential()`, likewise
 * @throws TypeError if Kong answers anything else, or a name that cannot be the value of a header
 */
export function callerOf(consumer: unknown, credential: unknown): Caller {
  const who = entity(consumer, 'consumer');
  const by = entity(credential, 'credential');
  const named = {
    'X-Consumer-ID': who?.['id'],
    'X-Consumer-Custom-ID': who?.['custom_id'],
    'X-Consumer-Username': who?.['username'],
    'X-Credential-Identifier': by?.['client_id'] ?? by?.['username'] ?? by?.['id'],
    'X-Anonymous-Consumer': who !== undefined && by === undefined ? 'true' : undefined,
  };
  return Object.fromEntries(
    Object.entries(named)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, headerValue(value, name)]),
  );
}

function entity(answer: unknown, what: string): Readonly<Record<string, unknown>> | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer !== 'object') throw new TypeError(`Kong gave no ${what}`);
  return answer as Readonly<Record<string, unknown>>;
}

function headerValue(value: unknown, name: string): string {
  if (typeof value !== 'string' || /[\x00-\x1f\x7f]/.test(value))
    throw new TypeError(`what Kong knows of the caller cannot be sent as ${name}`);
  return value;
}
