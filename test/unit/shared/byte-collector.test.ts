import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ByteCollector } from '../../../sidecar/shared/byte-collector.js';

it('collects the bytes of chunks of any size in their order', () => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 3000 }), fc.nat({ max: 40_000 })));
  fc.assert(
    fc.property(sizes, (lengths) => {
      const collected = new ByteCollector();
      const chunks = lengths.map((length, index) => Buffer.alloc(length, index % 251));
      for (const chunk of chunks) collected.add(chunk);
      assert.equal(
        collected.length,
        lengths.reduce((sum, length) => sum + length, 0),
      );
      assert.deepEqual(collected.concat(), Buffer.concat(chunks));
      collected.add(Buffer.from('end'));
      assert.deepEqual(collected.concat(), Buffer.concat([...chunks, Buffer.from('end')]));
    }),
  );
});

it('keeps the bytes of small chunks, not the chunks', () => {
  const collected = new ByteCollector();
  const chunk = Buffer.alloc(1);
  for (let value = 0; value < 200; value += 1) {
    chunk[0] = value;
    collected.add(chunk);
  }
  assert.deepEqual([...collected.concat()], [...Buffer.alloc(200).keys()]);
});
