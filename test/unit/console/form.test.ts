import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  EMPTY_FORM,
  FIELDS,
  formOf,
  hasField,
  isEmpty,
  queryOf,
  type Target,
} from '../../../console/purge/form.js';
import {
  ENTITY_PARAMETERS,
  parseParameters,
  TEMPORAL_PARAMETERS,
} from '../../../sidecar/purge/query/parameters.js';

const ACCEPTED = { entities: ENTITY_PARAMETERS, temporal: TEMPORAL_PARAMETERS };

const target = fc.constantFrom<Target>('entities', 'temporal');
const value = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => {
  // What a person cannot type, or what is cut off as blanks.
  return text.trim() !== '' && !/\p{Surrogate}/u.test(text) && !/[\u0000-\u001f\u007f-\u009f]/.test(text);
});

describe('the form of a purge', () => {
  it('the form of a purge makes a query that the gateway reads as what was typed', () => {
    fc.assert(
      fc.property(target, fc.dictionary(fc.constantFrom(...FIELDS), value), (one, fields) => {
        const query = queryOf({ ...EMPTY_FORM, target: one, fields });
        const typed = Object.entries(fields).filter(([name]) =>
          hasField(one, name as (typeof FIELDS)[number]),
        );
        assert.deepEqual(
          new Map([...parseParameters(query, ACCEPTED[one])].sort()),
          new Map(typed.map(([name, text]): [string, string] => [name, text.trim()]).sort()),
        );
      }),
    );
  });

  it('the form of a purge that is made from a query makes the same query again', () => {
    for (const query of [
      'type=Vehicle&q=speed%3E100',
      'type=A,B&maxAffected=5&record=ids',
      'q=name==%22a%20b%22',
      'type=Vehicle&local=true&csf=a%3D1',
    ])
      assert.equal(decodeURIComponent(queryOf(formOf('entities', query))), decodeURIComponent(query));
  });

  it('the form of a purge shows every parameter of a query, one that it does not know or that comes twice too', () => {
    const form = formOf('entities', 'type=A&type=B&nonsense=1&timerel=before&q=%');
    assert.deepEqual(form.fields, { type: 'A' });
    assert.equal(form.more, 'type=B&nonsense=1&timerel=before&q=%');
  });

  it('the form of a purge leaves the dry run to the preview', () => {
    assert.equal(queryOf(formOf('entities', 'type=A&dryRun=true')), 'type=A');
  });

  it('the form of a purge never sends a filter of the other target, and keeps it for going back', () => {
    const form = formOf('temporal', 'type=A&timerel=before&timeAt=2026-01-01T00:00:00Z');
    const changed = { ...form, target: 'entities' as const };
    assert.equal(queryOf(changed), 'type=A');
    assert.match(queryOf({ ...changed, target: 'temporal' }), /timerel=before/);
  });

  it('the form of a purge is empty until something selects', () => {
    assert.ok(isEmpty(formOf('entities', 'maxAffected=5&drop=speed')));
    assert.ok(!isEmpty(formOf('entities', 'local=true')));
  });

  it('the fields of the form are parameters that a purge takes', () => {
    for (const name of FIELDS)
      assert.ok(ENTITY_PARAMETERS.names.has(name) || TEMPORAL_PARAMETERS.names.has(name), name);
    for (const one of ['entities', 'temporal'] as const)
      for (const name of FIELDS.filter((field) => hasField(one, field)))
        assert.ok(ACCEPTED[one].names.has(name), `${one}: ${name}`);
  });
});
