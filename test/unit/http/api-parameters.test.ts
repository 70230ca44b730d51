import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OPTIONAL_PAGE, PAGE, parameters, readParameters } from '../../../sidecar/http/api/parameters.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';

const SCHEMA = {
  ...parameters({
    count: { type: 'integer', minimum: 1, maximum: 10, default: 5, description: 'a number' },
    most: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'a number' },
    flag: { type: 'boolean', default: false, description: 'a flag' },
    uri: { type: 'string', maxLength: 10, description: 'a text' },
  }),
  required: ['uri'],
} as const;

describe('which part of a list is wanted', () => {
  it('a page has 100 items from the first unless the request says otherwise, and 1000 at most', () => {
    const read = (query: Readonly<Record<string, string>>) => readParameters(parameters(PAGE), query);
    assert.deepEqual(read({}), { limit: 100, offset: 0 });
    assert.deepEqual(read({ limit: '1000', offset: '7' }), { limit: 1000, offset: 7 });
    for (const query of [{ limit: '1001' }, { limit: '0' }, { offset: '-1' }])
      assert.throws(() => read(query), RequestRefusedError);
  });

  it('an optional page may be left out', () => {
    assert.deepEqual(readParameters(parameters(OPTIONAL_PAGE), {}), { limit: undefined, offset: undefined });
    assert.throws(() => readParameters(parameters(OPTIONAL_PAGE), { limit: '1001' }), RequestRefusedError);
  });
});

describe('readParameters', () => {
  it('readParameters gives values of the types of their schemas, and defaults for what is left out', () => {
    assert.deepEqual(readParameters(SCHEMA, { uri: 'urn:a:b' }), {
      count: 5,
      most: undefined,
      flag: false,
      uri: 'urn:a:b',
    });
    const most = String(Number.MAX_SAFE_INTEGER);
    assert.deepEqual(readParameters(SCHEMA, { uri: 'x', count: '10', flag: 'true', most }), {
      count: 10,
      most: Number.MAX_SAFE_INTEGER,
      flag: true,
      uri: 'x',
    });
  });

  it('readParameters takes a text of the greatest length, and the least number', () => {
    const { uri, count } = readParameters(SCHEMA, { uri: 'x'.repeat(10), count: '1' });
    assert.deepEqual([uri, count], ['x'.repeat(10), 1]);
  });

  it('readParameters takes each text that is listed, and no other one', () => {
    const values = ['waiting', 'running'];
    const schema = parameters({
      state: { type: 'string', enum: values, default: 'waiting', description: 'a state' },
    });
    assert.deepEqual(readParameters(schema, {}), { state: 'waiting' });
    for (const state of values) assert.deepEqual(readParameters(schema, { state }), { state });
    for (const state of ['Waiting', 'waiting ', 'ended'])
      assert.throws(() => readParameters(schema, { state }), /must be one of waiting, running/);
  });

  it('readParameters takes a text of the wanted form, and says of another one what is wanted and what it is', () => {
    const schema = parameters({
      name: { type: 'string', maxLength: 5, pattern: '^[a-z]+$', description: 'a name: small letters.' },
    });
    assert.deepEqual(readParameters(schema, { name: 'abcde' }), { name: 'abcde' });
    assert.throws(
      () => readParameters(schema, { name: 'a1' }),
      /The parameter "name" must be a name: small letters; it is "a1"\./,
    );
    assert.throws(() => readParameters(schema, { name: 'abcdef' }), /at most 5 characters/);
  });

  it('readParameters refuses everything else, naming the parameter and what is wrong', () => {
    for (const [query, parameter, detail] of [
      [{}, 'uri', /missing/],
      [{ uri: '' }, 'uri', /empty/],
      [{ uri: ['a', 'b'] }, 'uri', /more than once/],
      [{ uri: 'x'.repeat(11) }, 'uri', /10 characters/],
      [{ uri: 'x', count: '0' }, 'count', /1 to 10/],
      [{ uri: 'x', count: '11' }, 'count', /1 to 10/],
      [{ uri: 'x', count: '1e0' }, 'count', /whole number/],
      [{ uri: 'x', count: ' 1' }, 'count', /whole number/],
      [{ uri: 'x', most: '9007199254740992' }, 'most', /whole number/],
      [{ uri: 'x', flag: 'TRUE' }, 'flag', /true or false/],
      [{ uri: 'x', other: '1' }, 'other', /the parameters here are count, most, flag, uri/],
      [{ uri: 'x', toString: '1' }, 'toString', /not known/],
      [{ uri: 'x', ['y'.repeat(500)]: '1' }, 'y'.repeat(100), /not known/],
    ] as const) {
      assert.throws(
        () => readParameters(SCHEMA, query),
        (error) => {
          assert.ok(error instanceof RequestRefusedError);
          assert.equal(error.problem.status, 400);
          assert.equal(error.problem['parameter'], parameter);
          assert.match(error.problem.detail ?? '', detail);
          return true;
        },
      );
    }
    assert.throws(() => readParameters(parameters({}), { x: '1' }), /there are no parameters here/);
  });
});
