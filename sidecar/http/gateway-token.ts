import { createHash, timingSafeEqual } from 'node:crypto';
import { refused } from './errors.js';

/** Header in which Kong and other callers send the shared secret; it is never forwarded to the broker. */
export const TOKEN_HEADER = 'x-gateway-token';

/** Checks the shared secret. @throws RequestRefusedError (401) */
export type TokenCheck = (header: string | readonly string[] | undefined) => void;

/**
 * A check against the configured secrets, of which a request needs one; one that passes everything when there are none.
 *
 * @param tokens one, or two while the secret is replaced
 * @param onRefused called for each request that carries none of them
 */
export function createTokenCheck(tokens: readonly string[] | undefined, onRefused?: () => void): TokenCheck {
  if (tokens === undefined) return () => {};
  const expected = tokens.map(digest);
  return (header) => {
    if (typeof header === 'string' && isOneOf(digest(header), expected)) return;
    onRefused?.();
    throw refused(
      'unauthorized',
      header === undefined
        ? 'This request needs the gateway token in the header X-Gateway-Token. Nothing was done. If it came through Kong, the fault is in the gateway, whose plugin adds the token, and not in the request: the log of Kong has the cause.'
        : 'The gateway token in the header X-Gateway-Token is not the right one. Nothing was done. If the request came through Kong, the fault is in the gateway, whose plugin has another token than this service, and not in the request.',
      {},
      { 'www-authenticate': 'GatewayToken' },
    );
  };
}

/** Digests have one length, and all are compared: it takes the same time whatever was sent. */
function isOneOf(sent: Buffer, expected: readonly Buffer[]): boolean {
  return expected.map((each) => timingSafeEqual(sent, each)).includes(true);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
