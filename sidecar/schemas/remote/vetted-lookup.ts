import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Resolves a host name to all its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A host name resolves to no allowed address. */
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
 * Makes a lookup for sockets that only returns addresses that the host may have. The connection uses the same addresses
 * that were vetted, so a name that resolves differently the next time gains nothing (DNS rebinding).
 *
 * Private addresses are only allowed for names that are recognisably inside a network; a name of the public DNS must
 * have a public address.
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
  if (addresses.length === 0) throw new AddressRefused(`${hostname} does not resolve to an allowed address.`);
  return addresses;
}

/** Addresses of private networks (RFC 1122, 1918, 4193, 6598): loopback, private, shared address space. */
const PRIVATE = subnets({
  ipv4: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  ipv6: ['::1/128', 'fc00::/7'],
});

/**
 * Addresses where no document can be (RFC 6890): this host, link-local (where clouds provide their metadata),
 * multicast, reserved, documentation, and tunnels that hide an IPv4 address.
 */
const NEVER = subnets({
  ipv4: [
    '0.0.0.0/8',
    '169.254.0.0/16',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  ipv6: [
    '::/96',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
    '100::/64',
    '2001:db8::/32',
    '2001::/32',
    '2002::/16',
    '64:ff9b:1::/48',
  ],
});

export type AddressKind = 'public' | 'private' | 'never';

/**
 * Returns the kind of network of an IP address; an IPv4 address that is mapped or translated to IPv6 counts as that
 * IPv4 address.
 */
export function addressKind(address: string): AddressKind {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  // The order matters: `::1` is private, but the rest of the deprecated `::/96` is never allowed.
  if (PRIVATE.check(address, family)) return 'private';
  return NEVER.check(address, family) ? 'never' : 'public';
}

/** Names that only exist inside a network: without a dot, or in a domain reserved for that purpose (RFC 6761, 6762, 8375). */
const INSIDE_NAME = /^[^.]+$|\.(?:localhost|local|internal|intranet|lan|corp|home\.arpa|svc|test)$/;

/** Whether a host name is recognisably inside a network. */
export function isInsideHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  return INSIDE_NAME.test(host);
}

function subnets(networks: {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}): BlockList {
  const list = new BlockList();
  for (const network of networks.ipv4) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), 'ipv4');
    // The same network behind a translator to IPv6 (RFC 6052).
    list.addSubnet(`64:ff9b::${address}`, 96 + Number(bits), 'ipv6');
  }
  for (const network of networks.ipv6) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), 'ipv6');
  }
  return list;
}
