import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isPacked } from '../../../sidecar/http/api/packing.js';

const LARGE = Buffer.alloc(1400, ' ');

it('an answer is packed for clients that say that they take gzip, and not for others', () => {
  for (const accepted of ['gzip', 'GZIP', 'deflate, gzip;q=0.5', 'br, gzip ; q=1', 'gzip, identity'])
    assert.ok(isPacked(accepted, LARGE), accepted);
  for (const accepted of [
    '',
    '*',
    'br',
    'identity',
    'gzip;q=0',
    'gzip; Q=0.0',
    'gzip;q=x',
    'gzippy',
    'identity, gzip;q=0.5',
  ])
    assert.ok(!isPacked(accepted, LARGE), accepted);
  assert.ok(!isPacked(undefined, LARGE));
});

it('an answer that fits into one packet is sent as it is', () => {
  assert.ok(!isPacked('gzip', LARGE.subarray(1)));
});
