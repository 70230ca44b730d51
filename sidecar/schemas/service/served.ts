import { createHash } from 'node:crypto';
import type { ServedDocument } from './shapes.js';

export const MEDIA_TYPES = {
  schema: 'application/schema+json',
  openapi: 'application/json',
  context: 'application/ld+json',
} as const;

/** A text as it is sent; its ETag is its hash. */
export function serve(text: string, mediaType: string): ServedDocument {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { bytes, mediaType, sha256, etag: sha256 };
}
