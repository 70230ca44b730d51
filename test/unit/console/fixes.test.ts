import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { applyFixes } from '../../../console/workbench/fixes.js';

it('a value or a name is replaced in place, and the rest of the text is unchanged', async () => {
  const text = '{ "a" : [1,\n {"b/c~d" : "fre" , "e":1.50}] }';
  const value = { pointer: '/a/1/b~1c~0d', suggestion: { value: 'free' } };
  assert.equal(await applyFixes(text, [value]), text.replace('fre', 'free'));
  const name = { pointer: '/a/1/e', suggestion: { name: 'f"g' } };
  assert.equal(await applyFixes(text, [name]), text.replace('"e"', '"f\\"g"'));
  assert.equal(await applyFixes(text, [value, name]), text.replace('fre', 'free').replace('"e"', '"f\\"g"'));
});

it('a suggestion for a value that is no longer there is ignored', async () => {
  const text = '{"a": {"b": 1}}';
  for (const pointer of ['/c', '/a/b/c', '/a/0', '/a/c'])
    assert.equal(await applyFixes(text, [{ pointer, suggestion: { value: 2 } }]), text);
  assert.equal(await applyFixes(text, [{ pointer: '', suggestion: { name: 'x' } }]), text);
  assert.equal(await applyFixes(text, [{ pointer: '/a/b' }]), text);
});

it('overlapping suggestions for a value and a part of it leave a readable text', async () => {
  const both = [
    { pointer: '/a', suggestion: { value: 'whole' } },
    { pointer: '/a/b', suggestion: { value: 'part' } },
  ];
  for (const findings of [both, [...both].reverse()])
    assert.equal(await applyFixes('{"a": {"b": 1}, "c": 2}', findings), '{"a": {"b": "part"}, "c": 2}');
});

it('of two suggestions for one place, only one is applied', async () => {
  const twice = [1, 2].map((value) => ({ pointer: '/a', suggestion: { value } }));
  assert.match(await applyFixes('{"a": 0}', twice), /^\{"a": [12]\}$/);
});

it('any value of any JSON text can be replaced, in any notation', async () => {
  const names = fc.string({ minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, fc.integer(), { minKeys: 1 }), fc.nat(4), async (all, space) => {
      const name = Object.keys(all)[0] ?? '';
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const text = JSON.stringify(all, null, space);
      const changed = await applyFixes(text, [{ pointer, suggestion: { value: 'new' } }]);
      assert.equal(changed, JSON.stringify({ ...all, [name]: 'new' }, null, space));
    }),
  );
});
