/** What the command line and the console know about purges, besides the types of the API. */
import type { Schemas } from './operations.js';

/** The collections whose DELETE is a purge. */
export const PURGE_PATHS = {
  entities: '/ngsi-ld/v1/entities',
  temporal: '/ngsi-ld/v1/temporal/entities',
} as const satisfies Record<NonNullable<Schemas['NewPurge']['target']>, string>;

export function isFinal({ state }: Pick<Schemas['Purge'], 'state'>): boolean {
  return state !== 'queued' && state !== 'running' && state !== 'cancelling';
}

/** The Link header that names an @context (ETSI GS CIM 009, clause 6.3.5). */
export function linkHeader(url: string): string {
  return `<${url}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
}
