import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { words } from './words.js';

/** A plugin entry of the declarative file. */
export interface KongPlugin {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * The members of a route that this project uses. {@link readKongFile} refuses others, which this
 * model would ignore.
 */
export interface KongRoute {
  readonly name: string;
  readonly methods?: readonly string[];
  readonly paths?: readonly string[];
  readonly regex_priority?: number;
  readonly strip_path?: boolean;
  readonly preserve_host?: boolean;
  readonly plugins?: readonly KongPlugin[];
}

export interface KongService {
  readonly name: string;
  readonly url: string;
  readonly connect_timeout: number;
  readonly write_timeout: number;
  readonly read_timeout: number;
  readonly retries: number;
  readonly plugins?: readonly KongPlugin[];
  readonly routes: readonly KongRoute[];
}

/** The members of an upstream that this project uses. */
export interface KongUpstream {
  readonly name: string;
  readonly targets: readonly { readonly target: string }[];
  readonly healthchecks: {
    readonly active: {
      readonly http_path: string;
      readonly timeout: number;
      readonly healthy: { readonly interval: number; readonly successes: number };
      readonly unhealthy: { readonly interval: number } & FailureCounts;
    };
    readonly passive: { readonly unhealthy: FailureCounts };
  };
}

/** Failures in a row after which a target gets no requests; with 0 they do not count. */
interface FailureCounts {
  readonly tcp_failures: number;
  readonly timeouts: number;
  readonly http_failures: number;
}

/** A plugin bound to a consumer at a service. */
export interface BoundPlugin extends KongPlugin {
  readonly consumer?: string;
  readonly service?: string;
}

export interface KongFile {
  readonly services: readonly KongService[];
  readonly upstreams: readonly KongUpstream[];
  /** Callers; routes do not depend on them. */
  readonly consumers?: readonly { readonly username: string }[];
  readonly plugins?: readonly BoundPlugin[];
}

const FAILURE_COUNTS = ['tcp_failures', 'timeouts', 'http_failures'];
const SERVICE_MEMBERS = words(`
  plugins name url connect_timeout write_timeout read_timeout retries routes
`);
const ROUTE_MEMBERS = words(`
  name methods paths regex_priority strip_path preserve_host plugins
`);

/**
 * Reads a declarative file.
 * @throws on anything that this model does not know, rather than ignoring it
 */
export function readKongFile(text: string): KongFile {
  const file = parse(text) as KongFile & { readonly _format_version: string };
  known(file, ['_format_version', '_comment', 'services', 'upstreams', 'consumers', 'plugins']);
  if (file._format_version !== '3.0') throw new Error('unknown format');
  for (const service of file.services) {
    known(service, SERVICE_MEMBERS);
    for (const route of service.routes) {
      known(route, ROUTE_MEMBERS);
      for (const plugin of route.plugins ?? []) known(plugin, ['name', 'config']);
    }
  }
  for (const plugin of file.plugins ?? []) known(plugin, ['name', 'consumer', 'service', 'config']);
  for (const upstream of file.upstreams) {
    known(upstream, ['name', 'targets', 'healthchecks']);
    for (const target of upstream.targets) known(target, ['target']);
    const { active, passive } = upstream.healthchecks;
    known(upstream.healthchecks, ['active', 'passive']);
    known(active, ['http_path', 'timeout', 'healthy', 'unhealthy']);
    known(active.healthy, ['interval', 'successes']);
    known(active.unhealthy, ['interval', ...FAILURE_COUNTS]);
    known(passive, ['unhealthy']);
    known(passive.unhealthy, FAILURE_COUNTS);
  }
  return file;
}

function known(object: object, members: readonly string[]): void {
  const unknown = Object.keys(object).filter((member) => !members.includes(member));
  if (unknown.length > 0) throw new Error(`the model does not know ${unknown.join()}`);
}

/**
 * Characters whose encoding Kong keeps: the reserved ones of RFC 3986 § 2.2 and the percent sign.
 */
const RESERVED = new Set("!*'();:@&=+$,/?%#[]");

/**
 * Returns the path that Kong 3.9 uses for routing and forwards: cut at the first `?`, with
 * everything but reserved characters decoded, and dot segments and empty segments removed. Works on
 * bytes, as Latin-1 text.
 */
export function normalizePath(requestTarget: string): string {
  const query = requestTarget.indexOf('?', 1);
  const raw = query === -1 ? requestTarget : requestTarget.slice(0, query);
  const decoded = raw.replace(/%([0-9A-Fa-f]{2})/g, (encoded, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return RESERVED.has(character) ? encoded.toUpperCase() : character;
  });
  const kept: string[] = [];
  const segments = decoded.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const open = kept.length > 0 && ['', '.', '..'].includes(segments.at(-1) ?? '');
  return `/${kept.join('/')}${open ? '/' : ''}`;
}

/** The destination of a request. */
export interface Routed {
  readonly service: KongService;
  readonly route: KongRoute;
  readonly path: string;
}

/**
 * Finds the route as the default router flavour (`traditional_compatible`) does: routes that
 * constrain more kinds of things first, then regex paths before prefixes, then the higher
 * regex_priority, then the longer prefix. One difference: that flavour finds no route for a path
 * that is not UTF-8, so Kong answers 404 although this function finds a route.
 */
export function routeOf(
  services: readonly KongService[],
  method: string,
  requestTarget: string,
): Routed | undefined {
  const path = normalizePath(requestTarget);
  let best: (Routed & { readonly rank: readonly number[] }) | undefined;
  for (const service of services) {
    for (const route of service.routes) {
      if (route.methods !== undefined && !route.methods.includes(method)) continue;
      for (const pattern of route.paths ?? ['/']) {
        const isRegex = pattern.startsWith('~');
        const matches = isRegex ? matchesStart(pattern.slice(1), path) : path.startsWith(pattern);
        if (!matches) continue;
        const weight = Number(route.methods !== undefined) + Number(route.paths !== undefined);
        const rank = isRegex ? [weight, 1, route.regex_priority ?? 0, 0] : [weight, 0, 0, pattern.length];
        if (best === undefined || compare(rank, best.rank) > 0) best = { service, route, path, rank };
      }
    }
  }
  return best;
}

/** Kong's router uses Rust's patterns, which are much like those of RE2. */
function matchesStart(pattern: string, path: string): boolean {
  return RE2JS.compile(`^(?:${pattern})`).matcher(path).find();
}

function compare(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((value, at) => value !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}
