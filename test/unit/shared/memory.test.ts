import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bodyMemoryBytes, workerHeapMb } from '../../../sidecar/shared/memory.js';

const MIB = 2 ** 20;

it('bodies and workers may use less memory in a container that has less', () => {
  const bodies = [256, 512, 1536, 65_536].map((mib) => bodyMemoryBytes(5 * MIB, mib * MIB) / MIB);
  assert.deepEqual(bodies.map(Math.round), [21, 43, 128, 128]);
  const heaps = [256, 512, 1024, 65_536].map((mib) => workerHeapMb(mib * MIB));
  assert.deepEqual(heaps, [64, 128, 256, 256]);
  // Two kinds of bodies, and two workers.
  for (const mib of [256, 512, 1024, 1536])
    assert.ok(
      2 * bodyMemoryBytes(5 * MIB, mib * MIB) + 2 * workerHeapMb(mib * MIB) * MIB <= (2 / 3) * mib * MIB + 1,
    );
});

it('a single body of the largest size always has room, however little memory there is', () => {
  assert.equal(bodyMemoryBytes(100 * MIB, 512 * MIB), 100 * MIB);
});
