import type { onSendHookHandler } from 'fastify';

/** Bytes of a body that nobody wants which are read and thrown away, so that its sender gets to see the answer. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * An answer that is sent while the body still comes in. Closing the connection then, as is the default, would reset it
 * under the sender, who could lose the answer: it stays open, and Node reads on.
 */
export const discardLateBody: onSendHookHandler = ({ raw }, reply, _payload, done) => {
  if (!raw.complete && !raw.destroyed) {
    reply.removeHeader('connection');
    let discarded = 0;
    raw.on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > DISCARDED_BYTES_MAX) raw.socket.destroy();
    });
  }
  done();
};
