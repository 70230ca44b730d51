import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nearestTests } from '../../mutation/nearest-tests.js';
import type { Source } from '../../support/source-imports.js';
import { words } from '../../support/words.js';

const source = (path: string, ...specifiers: readonly string[]): Source => ({
  path,
  imports: specifiers.map((specifier) => ({
    specifier: specifier.replace('type ', ''),
    typeOnly: specifier.startsWith('type '),
  })),
  touchesEnv: false,
});

it('the tests of a source are those that import it, directly or indirectly, nearest first', () => {
  const sources = [
    source('a/x.ts'),
    source('a/y.ts', './x.js', 'node:fs'),
    source('a/z.ts', './y.js', './x.js'),
    source('test/unit/far.test.ts', '../../a/z.js'),
    source('test/unit/farther.test.ts', '../help.js'),
    source('test/help.ts', '../a/y.js'),
    source('test/integration/near.test.ts', '../../a/x.js'),
    source('test/unit/near.test.ts', '../../a/x.js'),
    source('test/unit/types.test.ts', 'type ../../a/x.js'),
    source('test/unit/other.test.ts', '../../a/w.js'),
    source('test/long/near.test.ts', '../../a/x.js'),
  ];
  assert.deepEqual(
    nearestTests('a/x.ts', sources),
    words(`
      test/unit/near.test.ts test/integration/near.test.ts test/unit/far.test.ts test/unit/farther.test.ts
    `),
  );
});

it('tests are nearer to a source if they share words of its path, above all of its file name', () => {
  const sources = [
    source('sidecar/rooms/deep/things.ts'),
    source('sidecar/rooms/y.ts', './deep/things.js'),
    source('test/unit/other/near.test.ts', '../../../sidecar/rooms/deep/things.js'),
    source('test/unit/rooms/far.test.ts', '../../../sidecar/rooms/y.js'),
    source('test/unit/rooms/deep/far.test.ts', '../../../../sidecar/rooms/y.js'),
    source('test/integration/thing-room.test.ts', '../../sidecar/rooms/y.js'),
  ];
  assert.deepEqual(
    nearestTests('sidecar/rooms/deep/things.ts', sources),
    words(`
      test/integration/thing-room.test.ts test/unit/rooms/deep/far.test.ts test/unit/rooms/far.test.ts
      test/unit/other/near.test.ts
    `),
  );
});

it('tests of a source with JSX are found, and tests of the files it imports', () => {
  const sources = [
    source('console/part.tsx', './words.js'),
    source('console/words.ts'),
    source('test/unit/part.test.ts', '../../console/part.js'),
  ];
  for (const path of ['console/part.tsx', 'console/words.ts'])
    assert.deepEqual(nearestTests(path, sources), ['test/unit/part.test.ts']);
});

it('tests are found despite import cycles, and a source that no test imports has none', () => {
  const circle = [source('a.ts', './b.js'), source('b.ts', './a.js'), source('t.test.ts', './b.js')];
  assert.deepEqual(nearestTests('a.ts', circle), ['t.test.ts']);
  assert.deepEqual(nearestTests('c.ts', circle), []);
});
