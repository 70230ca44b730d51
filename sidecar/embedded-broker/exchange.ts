import type { JsonValue } from '../shared/json/json.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../shared/clock.js';
import type { Behaviour, Chance } from './behaviour.js';
import type { Tenants } from './tenants.js';

export interface Limits {
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
  readonly maxBodyBytes: number;
  /** Maximum number of instances of one attribute in a temporal answer. */
  readonly instancesPerAttribute: number;
}

/** The objects that all handlers work with. */
export interface BrokerContext {
  readonly tenants: Tenants;
  readonly behaviour: Behaviour;
  readonly chance: Chance;
  readonly limits: Limits;
  readonly clock: Clock;
}

/** A request as passed to handlers. */
export interface BrokerRequest {
  readonly method: string;
  /** The path without the query string, percent-encoded as sent. */
  readonly path: string;
  /** The query string, without `?`. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly tenant: string | undefined;
  /** The decoded variable segments of the path. */
  readonly segments: readonly string[];
  /** Reads the body as JSON. @throws Refusal 400, 413, 415 */
  readonly body: () => Promise<JsonValue>;
  /** The number of items in a batch, for the request log. */
  items?: number;
}

export interface BrokerResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; no body is sent if undefined. */
  readonly body?: unknown;
}

export type Handler = (
  request: BrokerRequest,
  context: BrokerContext,
) => BrokerResponse | Promise<BrokerResponse>;
