import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../shared/byte-collector.js';
import { hasBody } from './lingering-close.js';

/** The part of a body that was read, or why there is none. */
export type CollectedBody =
  | { readonly bytes: Buffer; readonly isWhole: true }
  /** The body is too large, or there is no memory for it; the rest has not been read. */
  | { readonly bytes: Buffer; readonly isWhole: false; readonly why: 'large' | 'busy' }
  /** The client disconnected, or sent something unreadable, which is answered elsewhere. */
  | 'gone'
  /** The client stopped sending. */
  | 'slow';

/** A memory budget for bodies that are being read. */
export class BodyMemory {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /**
   * Takes memory, even if the budget is exceeded; it must be given back in any case.
   *
   * @returns whether there was enough
   */
  reserve(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  release(bytes: number): void {
    this.#left += bytes;
  }
}

/**
 * Reads a body to its end, or up to the limit. The bytes returned count towards the budget until the caller gives them
 * back.
 *
 * @param limit in bytes
 */
export function collectBody(
  req: IncomingMessage,
  limit: number,
  bodyMemory: BodyMemory,
): Promise<CollectedBody> {
  const length = req.headers['content-length'];
  if (!hasBody(req)) return Promise.resolve({ bytes: EMPTY, isWhole: true });
  if (Number(length ?? 0) > limit) return Promise.resolve({ bytes: EMPTY, isWhole: false, why: 'large' });
  return new Promise((resolve) => {
    process.nextTick(() => {
      if (req.destroyed) {
        resolve('gone');
        return;
      }
      // A small body has usually arrived already.
      if (length !== undefined && req.readableLength === Number(length)) {
        const bytes = req.read() as Buffer;
        bodyMemory.reserve(bytes.length);
        // An answer before Node.js has seen the end of the request would count as one during the upload.
        req.once('end', () => resolve({ bytes, isWhole: true }));
        req.once('close', () => {
          if (req.readableEnded) return;
          bodyMemory.release(bytes.length);
          resolve('gone');
        });
        req.resume();
        return;
      }
      collectChunks(req, limit, bodyMemory, resolve);
    });
  });
}

const EMPTY = Buffer.alloc(0);

function collectChunks(
  req: IncomingMessage,
  limit: number,
  bodyMemory: BodyMemory,
  resolve: (body: CollectedBody) => void,
): void {
  const collected = new ByteCollector();
  const done = (body: CollectedBody): void => {
    req.off('data', take).off('end', end).off('error', gone).off('close', gone).off('timeout', slow);
    if (typeof body === 'string') bodyMemory.release(collected.length);
    resolve(body);
  };
  const stop = (why: 'large' | 'busy'): void => {
    req.pause();
    done({ bytes: collected.concat(), isWhole: false, why });
  };
  const take = (chunk: Buffer): void => {
    collected.add(chunk);
    if (!bodyMemory.reserve(chunk.length)) stop('busy');
    else if (collected.length > limit) stop('large');
  };
  const end = (): void => done({ bytes: collected.concat(), isWhole: true });
  const gone = (): void => {
    // The next reader of the body has its own error listener, or there is no reader.
    req.on('error', () => undefined);
    done('gone');
  };
  const slow = (): void => {
    // A listener tells the server that the client gets an answer (see closeIdleClients).
    req.on('timeout', () => undefined);
    done('slow');
  };
  req.on('data', take).once('end', end).once('error', gone).once('close', gone).once('timeout', slow);
}
