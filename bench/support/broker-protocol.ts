/**
 * What the process of the broker is told. `seed` makes entities of a type: `urn:ngsi-ld:{type}:0` and so on, with so many more
 * attributes of about 100 bytes.
 */
export type BrokerCommand =
  | { readonly do: 'start'; readonly latencyMs: number }
  | { readonly do: 'seed'; readonly type: string; readonly amount: number; readonly attributes?: number }
  | { readonly do: 'count' };

/** Its answer: the broker's URL for `start`, else how many entities there are; or why not. */
export type BrokerAnswer = { readonly value: string | number } | { readonly error: string };
