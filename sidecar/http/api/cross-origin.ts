import { endpoint, type Endpoint } from './endpoint.js';

/** Headers of reads that scripts of any web page may do (the Fetch standard, § 3.2). */
export const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Link',
} as const;

const PREFLIGHT_HEADERS = {
  allow: 'GET, HEAD, OPTIONS',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
} as const;

/** The OPTIONS that browsers send ahead of a read of another origin with headers of its own, e.g. If-None-Match. */
export function preflight({ path, id, tag }: Endpoint): Endpoint {
  return endpoint({
    method: 'OPTIONS',
    path,
    id: `${id}Preflight`,
    tag,
    summary: 'Which reads scripts of other origins may do (CORS)',
    answers: { 204: { description: 'GET and HEAD, with any headers.' } },
    isCrossOrigin: true,
    isStatic: true,
    handle: async () => ({ status: 204, headers: PREFLIGHT_HEADERS }),
  });
}
