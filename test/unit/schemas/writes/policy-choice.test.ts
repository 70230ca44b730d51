import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  byPriority,
  type Candidate,
  choosePolicy,
  isStricter,
} from '../../../../sidecar/schemas/writes/policy-choice.js';
import { column } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

const IRIS = ['https://a/Car', 'https://a/Bus', 'urn:b:Car'];

/** Policies in order, the last of which is for all entities. */
const candidates = fc
  .array(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 3 }),
      priority: fc.integer({ min: 0, max: 3 }),
      mode: fc.constantFrom('off', 'report', 'enforce'),
      types: fc.array(fc.constantFrom('Car', 'Bus', ...IRIS), { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 5 },
  )
  .map((all): readonly Candidate[] => [
    ...[...all].sort(byPriority),
    { name: '', priority: -Infinity, mode: 'off' },
  ]);

const types = fc.array(
  fc.constantFrom(...IRIS).map((iri) => ({ written: 'x', iri })),
  { minLength: 1, maxLength: 3 },
);

it('policies are in the order of their priority, and those of one priority in that of their names', () => {
  const all = words('b:1 a:1 c:0 d:2').map((word): Candidate => {
    const [name = '', priority] = word.split(':');
    return { name, priority: Number(priority), mode: 'off' };
  });
  assert.deepEqual(column(all.sort(byPriority), 'name'), ['d', 'a', 'b', 'c']);
});

it('an additional type never leads an entity to a less strict policy', () => {
  fc.assert(
    fc.property(candidates, types, fc.constantFrom(...IRIS, undefined), (all, known, iri) => {
      const before = all[choosePolicy(all, known)];
      const after = all[choosePolicy(all, [...known, { written: 'y', iri }])];
      assert.ok(before !== undefined && after !== undefined);
      assert.equal(isStricter(before.mode, after.mode), false);
    }),
  );
});

it('an entity of one type has the first policy that names the type, by its IRI or the end of it', () => {
  fc.assert(
    fc.property(candidates, fc.constantFrom(...IRIS), (all, iri) => {
      const own = all.find(
        (one) =>
          one.types?.some((type) => type === iri || iri.endsWith(`/${type}`) || iri.endsWith(`:${type}`)) ??
          true,
      );
      assert.equal(all[choosePolicy(all, [{ written: 'z', iri }])], own);
    }),
  );
});
