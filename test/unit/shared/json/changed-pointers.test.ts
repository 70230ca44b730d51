import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { changedPointers } from '../../../../sidecar/schemas/json-schema/tasks.js';
import { type JsonValue, jsonEquals, childAt, tokensOf } from '../../../../sidecar/shared/json/json.js';

const documents = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;

it('changed pointers are the innermost differences of two documents, each with the kind of change', () => {
  const before = { a: 1, b: { c: [1, 2, { d: 1 }], e: 1 }, 'f/~': 1, g: [1] };
  const after = { g: { '0': 1 }, b: { c: [1, 3, { d: 1 }, 4], h: 1 }, a: 1, 'f/~': 2 };
  assert.deepEqual(changedPointers(before, after), [
    { op: 'replace', pointer: '/b/c/1' },
    { op: 'add', pointer: '/b/c/3' },
    { op: 'remove', pointer: '/b/e' },
    { op: 'add', pointer: '/b/h' },
    { op: 'replace', pointer: '/f~1~0' },
    { op: 'replace', pointer: '/g' },
  ]);
  assert.deepEqual(changedPointers(1, 2), [{ op: 'replace', pointer: '' }]);
});

it('equal documents have no changed pointers, and each changed pointer exists in one of the documents', () => {
  const at = (document: JsonValue, pointer: string) =>
    (tokensOf(pointer) ?? []).reduce<JsonValue | undefined>(childAt, document);
  fc.assert(
    fc.property(documents, documents, (before, after) => {
      const changes = changedPointers(before, after);
      assert.equal(changes.length === 0, jsonEquals(before, after));
      for (const { op, pointer } of changes) {
        assert.equal(at(before, pointer) === undefined, op === 'add');
        assert.equal(at(after, pointer) === undefined, op === 'remove');
      }
    }),
  );
});
