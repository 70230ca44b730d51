import assert from 'node:assert/strict';
import { it } from 'node:test';
import { prefers } from '../../../sidecar/http/content-negotiation.js';

it('an answer is compressed only for clients that accept gzip', () => {
  for (const accepted of ['gzip', 'GZIP', 'deflate, gzip;q=0.5', 'br, gzip ; q=1', 'gzip, identity'])
    assert.ok(prefers(accepted, 'gzip', 'identity'), accepted);
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
    assert.ok(!prefers(accepted, 'gzip', 'identity'), accepted);
  assert.ok(!prefers(undefined, 'gzip', 'identity'));
});
