import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ApiError } from '../../../console/api/client.js';
import { errorsOf, jsonError } from '../../../console/editor/errors.js';
import { bodyOf, LINES_BEFORE_SCHEMA } from '../../../console/models/model-write.js';

const of = (members: object) =>
  errorsOf(new ApiError({ title: 'T', status: 400, ...members }, undefined), '/schema', 1);

it('a pointer into the body becomes a pointer into the text, and a pointer to another member is dropped', () => {
  assert.deepEqual(
    of({
      errors: [
        { pointer: '/schema/type', detail: 'a' },
        { pointer: '/schema', detail: 'b' },
        { pointer: '/schemas/type', detail: 'c' },
        { pointer: '/name', detail: 'd' },
      ],
    }),
    [{ detail: 'a', pointer: '/type' }, { detail: 'b', pointer: '' }, { detail: 'c' }, { detail: 'd' }],
  );
});

it('values that are not errors are skipped', () => {
  for (const errors of [[null], ['x'], [{ pointer: 3, detail: 'a' }], [{ pointer: '/schema' }], []])
    assert.deepEqual(of({ errors }), []);
  assert.deepEqual(errorsOf(new Error('x'), '/schema', 1), []);
  assert.deepEqual(of({}), []);
});

it('a line of the body becomes a line of the text, and a line before the text is dropped', () => {
  assert.deepEqual(of({ line: 2, column: 5, detail: 'D' }), [{ detail: 'D', line: 1, column: 5 }]);
  assert.deepEqual(of({ line: 7 }), [{ detail: 'T', line: 6 }]);
  assert.deepEqual(of({ line: 1, column: 5 }), []);
  assert.deepEqual(of({ line: '2' }), []);
});

it('the schema starts in the body of a request after LINES_BEFORE_SCHEMA lines', () => {
  for (const settings of [undefined, { description: 'a\nb', status: 'draft' as const }]) {
    const before = bodyOf({ schemaText: 'HERE', settings }).split('HERE')[0] ?? '';
    assert.equal(before.split('\n').length - 1, LINES_BEFORE_SCHEMA);
  }
});

it('a text is JSON, or its error is reported', () => {
  for (const text of ['{}', ' 1 ', 'null']) assert.equal(jsonError(text), undefined);
  for (const text of ['', '{', '{} {}']) assert.match(jsonError(text) ?? '', /JSON|Unexpected/);
});
