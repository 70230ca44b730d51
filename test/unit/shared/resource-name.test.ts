import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isResourceName } from '../../../sidecar/shared/resource-name.js';

it('a resource name is a letter or digit and up to 127 letters, digits, dots, dashes and underscores', () => {
  for (const name of ['a', 'Z', '9', '3DPrinter', 'a-b_c.9', `a${'b'.repeat(127)}`])
    assert.ok(isResourceName(name), name);
});

it('other names of resources are refused', () => {
  for (const name of ['', '_a', '.a', '-a', 'a b', 'a/b', 'a%2F', 'a\n', 'ä', `a${'b'.repeat(128)}`])
    assert.ok(!isResourceName(name), name);
});
