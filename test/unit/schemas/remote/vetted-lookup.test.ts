import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, it } from 'node:test';
import {
  AddressRefused,
  type ResolveHost,
  vettedLookup,
} from '../../../../sidecar/schemas/remote/vetted-lookup.js';

const PUBLIC: LookupAddress = { address: '8.8.8.8', family: 4 };
const PUBLIC_6: LookupAddress = { address: '2606:4700::1111', family: 6 };
const PRIVATE: LookupAddress = { address: '10.0.0.1', family: 4 };
const METADATA: LookupAddress = { address: '169.254.169.254', family: 4 };

interface Looked {
  readonly error: Error | null;
  readonly address: string | LookupAddress[];
  readonly family: number | undefined;
}

const look = async (hostname: string, resolve: ResolveHost, all = true) =>
  new Promise<Looked>((done) => {
    vettedLookup(resolve)(hostname, { all }, (error, address, family) => done({ error, address, family }));
  });

describe('the lookup of a host for remote documents', () => {
  it('the lookup of a host returns public addresses, and also private ones for a name inside a network', async () => {
    for (const [hostname, found, kept] of [
      ['example.org', [PUBLIC, PRIVATE, PUBLIC_6, METADATA], [PUBLIC, PUBLIC_6]],
      ['models.internal', [METADATA, PRIVATE, PUBLIC], [PRIVATE, PUBLIC]],
      ['models', [PRIVATE], [PRIVATE]],
    ] as const) {
      const asked: string[] = [];
      const { error, address } = await look(hostname, async (name) => {
        asked.push(name);
        return found;
      });
      assert.deepEqual([error, address, asked], [null, kept, [hostname]]);
    }
  });

  it('the lookup of a host returns the first address with its family if a single one is requested', async () => {
    const { error, address, family } = await look(
      'example.org',
      async () => [PRIVATE, PUBLIC_6, PUBLIC],
      false,
    );
    assert.deepEqual([error, address, family], [null, PUBLIC_6.address, 6]);
  });

  it('the lookup of a host refuses a host without an allowed address', async () => {
    for (const [hostname, found] of [
      ['example.org', [PRIVATE]],
      ['example.org', []],
      ['models.internal', [METADATA]],
    ] as const) {
      for (const all of [true, false]) {
        const { error } = await look(hostname, async () => found, all);
        assert.ok(error instanceof AddressRefused, String(error));
      }
    }
  });

  it('the lookup of a host fails with the error of the resolver', async () => {
    const { error } = await look('example.org', async () => Promise.reject(new Error('ENOTFOUND')));
    assert.equal(error?.message, 'ENOTFOUND');
  });
});
