import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { stopLater } from './gateway-harness.js';
import { listening } from './listening.js';

/** A request as it reached the server. */
export interface GatewayRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The answer of a server that is not a gateway; 'reset' breaks the connection. */
export type Answering = (
  request: GatewayRequest,
) => 'reset' | { readonly status?: number; readonly text: string };

/**
 * Answers every request as given, even if no gateway would answer so.
 * @returns its URL
 */
export async function startAnswering(answer: Answering): Promise<string> {
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const { method = '', url = '', headers } = req;
      const answered = answer({ method, url, headers, body });
      if (answered === 'reset') res.destroy();
      else
        res
          .writeHead(answered.status ?? 200, { 'content-type': 'application/json', etag: '"e"' })
          .end(answered.text);
    });
  });
  const { url: address, close } = await listening(server);
  stopLater(close);
  return address;
}
