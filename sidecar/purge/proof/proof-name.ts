import { createHash } from 'node:crypto';
import type { ProofName } from '../broker/capabilities.js';
import type { Parameter } from '../query/parameters.js';

type Headers = Readonly<Record<string, string>>;

/** Headers that decide which data a query reads, and how. */
const READING = ['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'link'] as const;

/** Headers that say who asks: a broker, or what stands before it, may show others something else. */
const CREDENTIALS = ['authorization', 'x-auth-token'] as const;

/**
 * The name of the proof of exactly this query: these parameters with these values, these headers, this projection.
 *
 * @param shape how much of each entity is asked for
 */
export function proofNameOf(selection: readonly Parameter[], headers: Headers, shape: string): ProofName {
  const parts = [
    selection.map(({ name, value }) => [name, value]),
    [...READING, ...CREDENTIALS].map((name) => headers[name] ?? null),
    shape,
  ];
  const name = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return { name, isShared: CREDENTIALS.every((header) => headers[header] === undefined) };
}
