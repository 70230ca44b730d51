import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressKind, isInsideHost, type AddressKind } from '../../../sidecar/remote/address.js';

const ADDRESSES: Readonly<Record<AddressKind, readonly string[]>> = {
  public: [
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ],
  private: [
    ...['127.0.0.1', '127.255.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1'],
    ...['::1', 'fd00::1', '::ffff:127.0.0.1', '::ffff:a00:1', '64:ff9b::10.0.0.1'],
  ],
  never: [
    ...['0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '240.0.0.1'],
    ...['::', 'fe80::1', 'fec0::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::', '::127.0.0.1'],
    ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1'],
  ],
};

describe('the kind of an address', () => {
  for (const [kind, addresses] of Object.entries(ADDRESSES)) {
    it(`is ${kind} for ${addresses.join(', ')}`, () => {
      for (const address of addresses) assert.equal(addressKind(address), kind, address);
    });
  }
});

describe('a host name', () => {
  it('says that it is inside a network', () => {
    for (const name of [
      'localhost',
      'context-server',
      'a.local',
      'A.INTERNAL',
      'x.localhost',
      'x.home.arpa',
      'x.lan.',
    ])
      assert.equal(isInsideHost(name), true, name);
  });

  it('says nothing of the kind when it is of the public DNS', () => {
    for (const name of ['example.org', 'local.example.org', 'xlocal.de', 'a.notlocal'])
      assert.equal(isInsideHost(name), false, name);
  });
});
