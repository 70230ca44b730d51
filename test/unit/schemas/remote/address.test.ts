import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import {
  addressKind,
  type AddressKind,
  isInsideHost,
} from '../../../../sidecar/schemas/remote/vetted-lookup.js';
import { words } from '../../../support/words.js';

/** First and last address of each network that is not public (RFC 6890), by its description. */
const NETWORKS: Readonly<Record<Exclude<AddressKind, 'public'>, readonly (readonly [string, string])[]>> = {
  private: [
    ['127.0.0.0', '127.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['::1', '::1'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ],
  never: [
    ['0.0.0.0', '0.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '239.255.255.255'],
    ['240.0.0.0', '255.255.255.255'],
    ['::', '::'],
    ['::2', '::ffff:ffff'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ],
};

/** Addresses just outside of the networks, on both sides if these are public. */
const PUBLIC = words(`
  1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
  203.0.114.0 223.255.255.255 100:0:0:1:: 2001:1:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
  2003:: 64:ff9b:2:: 2606:4700::1111 fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ::1:0:0:0
`);

/** An IPv4 address mapped to IPv6 (RFC 4291), and translated (RFC 6052). */
const inIpv6 = (address: string) => [`::ffff:${address}`, `64:ff9b::${address}`];

describe('the kind of an address', () => {
  for (const [kind, networks] of Object.entries(NETWORKS)) {
    it(`the kind of an address is ${kind} from the first to the last of each such network, in any notation of IPv6`, () => {
      for (const address of networks.flat()) {
        assert.equal(addressKind(address), kind, address);
        if (!address.includes(':'))
          for (const same of inIpv6(address)) assert.equal(addressKind(same), kind, same);
      }
    });
  }

  it('the kind of an address is public for the neighbours of these networks', () => {
    const covered = new BlockList();
    for (const [first, last] of Object.values(NETWORKS).flat())
      covered.addRange(first, last, first.includes(':') ? 'ipv6' : 'ipv4');
    for (const address of PUBLIC) {
      assert.equal(covered.check(address, address.includes(':') ? 'ipv6' : 'ipv4'), false, address);
      assert.equal(addressKind(address), 'public', address);
      if (!address.includes(':'))
        for (const same of inIpv6(address)) assert.equal(addressKind(same), 'public', same);
    }
  });
});

describe('a host name', () => {
  it('a name inside a network is recognised', () => {
    for (const name of words(`
      localhost context-server a.local A.INTERNAL x.localhost x.home.arpa x.lan. x.intranet x.corp
      x.default.svc x.test
    `))
      assert.equal(isInsideHost(name), true, name);
  });

  it('a public name is not taken for one inside a network', () => {
    for (const name of words(`
      example.org local.example.org xlocal.de a.notlocal x.arpa x.home-arpa x.tests
      home.arpa.example.org svc.io a.b.
    `))
      assert.equal(isInsideHost(name), false, name);
  });
});
