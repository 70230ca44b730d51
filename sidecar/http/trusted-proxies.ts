import { BlockList, isIP } from 'node:net';

/** Returns an address without the port that some proxies add to it, such as Azure Application Gateway. */
export function withoutPort(address: string): string {
  return address.replace(/^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/, '$1$2');
}

/**
 * Returns a function that says whether an address, with or without a port, is that of a trusted proxy.
 *
 * @param proxies IP addresses and networks
 */
export function createProxyCheck(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = familyOf(address) ?? 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address) => {
    const plain = withoutPort(address);
    const family = familyOf(plain);
    return family !== undefined && list.check(plain, family);
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}
