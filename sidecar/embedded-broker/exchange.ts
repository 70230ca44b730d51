import type { JsonValue } from '../shared/json/json.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../shared/clock.js';
import type { Behaviour, Chance } from './behaviour.js';
import type { Tenants } from './tenants.js';

export interface Limits {
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
  readonly maxBodyBytes: number;
  /** Most instances of one attribute that a temporal answer shows. */
  readonly instancesPerAttribute: number;
}

/** What all handlers work with. */
export interface BrokerContext {
  readonly tenants: Tenants;
  readonly behaviour: Behaviour;
  readonly chance: Chance;
  readonly limits: Limits;
  readonly clock: Clock;
}

/** A request as handlers see it. */
export interface BrokerRequest {
  readonly method: string;
  /** Without the query string, percent-encoded as sent. */
  readonly path: string;
  /** The query string, without `?`. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly tenant: string | undefined;
  /** The decoded variable segments of the path. */
  readonly segments: readonly string[];
  /** Body as JSON. @throws Refusal 400, 413, 415 */
  readonly body: () => Promise<JsonValue>;
  /** How many items a batch held, noted for the request log. */
  items?: number;
}

export interface BrokerResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; nothing is sent when undefined. */
  readonly body?: unknown;
}

export type Handler = (
  request: BrokerRequest,
  context: BrokerContext,
) => BrokerResponse | Promise<BrokerResponse>;
