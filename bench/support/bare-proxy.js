/**
 * The obvious Node proxy for a broker, in a separate process: node:http and the fastest interface of undici. It streams with
 * backpressure, and does nothing else. Its parent sends it the broker's origin over IPC, and receives its URL.
 *
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 */
/* oxlint-disable no-unused-vars -- Headers are removed by destructuring them. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

/** @param {string} origin */
function serve(origin) {
  const pool = new Pool(origin, { connections: 256 });

  /** @param {IncomingMessage} req @param {ServerResponse} res */
  const forward = (req, res) => {
    const { url: path = '/', method = 'GET' } = req;
    const { host, connection, 'keep-alive': _, 'transfer-encoding': coding, ...headers } = req.headers;
    const hasBody = coding !== undefined || headers['content-length'] !== undefined;
    pool.dispatch(
      { path, method, headers, body: hasBody ? req : null },
      {
        onRequestStart(controller) {
          res.on('drain', () => controller.resume());
        },
        onResponseStart(_controller, status, answered) {
          const { connection, 'keep-alive': _, 'transfer-encoding': coding, ...headers } = answered;
          res.writeHead(status, headers);
        },
        onResponseData(controller, chunk) {
          if (!res.write(chunk)) controller.pause();
        },
        onResponseEnd() {
          res.end();
        },
        onResponseError(_controller, error) {
          res.destroy(error);
        },
      },
    );
  };
  const server = createServer({ keepAliveTimeout: 75_000 }, forward);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${String(address?.port)}` });
  });
}

process.once('message', (origin) => serve(String(origin)));
process.once('disconnect', () => process.exit());
