import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AlreadyExistsError,
  DependencyChangedError,
  InUseError,
  NotFoundError,
} from '../../../sidecar/store/errors.js';
import type { Dependent } from '../../../sidecar/store/records.js';

it('errors of a store quote the name of the missing or conflicting record, shortened if it is long', () => {
  const thing = { kind: 'model', domain: 'a"\n', name: '__proto__', version: 7 } as const;
  assert.equal(
    new NotFoundError(thing).message,
    'There is no version 7 of model "__proto__" in domain "a\\"\\n".',
  );
  assert.equal(
    new AlreadyExistsError({ kind: 'context', name: 'x'.repeat(1000) }).message,
    `There is already a context "${'x'.repeat(200)}…".`,
  );
  assert.equal(
    new DependencyChangedError(['https://a.example/'], ['city']).message,
    'Changed or missing: reference document "https://a.example/", context "city".',
  );
});

it('errors of a store name the first dependents and count the rest', () => {
  const dependents: Dependent[] = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
    kind: 'context',
    name,
    version: 1,
  }));
  const of = (count: number, total: number) =>
    new InUseError({ kind: 'context', name: 'x' }, dependents.slice(0, count), total).message;
  assert.equal(of(1, 1), 'The context "x" is in use by context "a".');
  assert.match(of(5, 5), /context "d", context "e"\.$/);
  assert.match(of(6, 20), /context "e" and 15 more\.$/);
});
