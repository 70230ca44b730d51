import type { BrokerReply } from '../../sidecar/purge/broker/index.js';

/** A broker's reply: a text `body` is used unchanged, other bodies as JSON; header names in lower case. */
export function replyOf(
  status: number,
  body: unknown = '',
  headers: Readonly<Record<string, string>> = {},
): BrokerReply {
  return {
    status,
    headers: new Map(Object.entries(headers)),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
