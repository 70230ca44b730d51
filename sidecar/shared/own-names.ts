import { isLoopback } from './loopback.js';

/** The settings that name the gateway. */
interface NameSettings {
  readonly ALLOWED_HOSTS: readonly string[] | undefined;
  readonly PUBLIC_URL: URL | undefined;
}

/** Returns the names of the gateway that the configuration has, lower-case, without ports. */
export function configuredNames({ ALLOWED_HOSTS = [], PUBLIC_URL }: NameSettings): readonly string[] {
  return PUBLIC_URL === undefined ? ALLOWED_HOSTS : [...ALLOWED_HOSTS, PUBLIC_URL.hostname];
}

/** Returns a function that says whether a host is one of these names, or of this machine alone. */
export function ownNameCheck(names: readonly string[]): (host: string) => boolean {
  const known = new Set(names);
  return (host) => known.has(host) || host.endsWith('.localhost') || isLoopback(host);
}
