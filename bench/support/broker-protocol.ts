/**
 * Commands for the process of the broker. `seed` creates entities of a type: `urn:ngsi-ld:{type}:0` and so on, with
 * `attributes` more attributes of about 100 bytes each.
 */
export type BrokerCommand =
  | { readonly do: 'start'; readonly latencyMs: number }
  | { readonly do: 'seed'; readonly type: string; readonly amount: number; readonly attributes?: number }
  | { readonly do: 'count' };

/** The answer: the broker's URL for `start`, otherwise the number of entities; or why the command failed. */
export type BrokerAnswer = { readonly value: string | number } | { readonly error: string };
