import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { addressKind, isInsideHost } from './address.js';

/** All addresses of a host name, as the system resolves it. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A host name whose addresses are none that it may have. */
export class AddressRefused extends Error {}

/** The system's own resolver. */
export const systemResolve: ResolveHost = (hostname) =>
  new Promise((resolve, reject) => {
    dnsLookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });

/**
 * A lookup for sockets that yields only addresses a host may have. The connection is made to the very addresses that were
 * vetted, so that a name which resolves otherwise the next time gains nothing (DNS rebinding).
 *
 * Private addresses are for names that say they are inside a network; a name of the public DNS must have a public one.
 */
export function vettedLookup(resolveHost: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    vettedAddresses(hostname, resolveHost).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 0);
      },
    );
  };
}

async function vettedAddresses(
  hostname: string,
  resolveHost: ResolveHost,
): Promise<readonly LookupAddress[]> {
  const isInside = isInsideHost(hostname);
  const addresses = (await resolveHost(hostname)).filter(({ address }) => {
    const kind = addressKind(address);
    return kind === 'public' || (kind === 'private' && isInside);
  });
  if (addresses.length === 0) throw new AddressRefused(`${hostname} has no address that it may have.`);
  return addresses;
}
