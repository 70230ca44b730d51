import { isIP } from 'node:net';

/** Whether only this machine can reach the address. @param text a host name or an IP address, also as written in a URL */
export function isLoopback(text: string): boolean {
  const host = text.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
