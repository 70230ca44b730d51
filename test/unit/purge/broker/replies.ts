import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';

/** A broker's reply: `body` as it is when it is a text, else as JSON; header names in lower case. */
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
