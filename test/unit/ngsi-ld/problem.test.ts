import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorTypes, ownType } from '../../../sidecar/ngsi-ld/problem.js';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';
import { words } from '../../support/words.js';

it('each type of a problem of the standard is its name below the URI of ETSI (clause 5.5.2)', () => {
  const names = words(`
      InvalidRequest BadRequestData AlreadyExists Conflict OperationNotSupported ResourceNotFound
      NonexistentTenant InternalError TooComplexQuery TooManyResults LdContextNotAvailable
    `);
  assert.deepEqual(
    errorTypes,
    Object.fromEntries(
      names.map((name) => [
        `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
        `https://uri.etsi.org/ngsi-ld/errors/${name}`,
      ]),
    ),
  );
});

it('a type of a problem of this product is a URN', () => {
  assert.equal(ownType('outcome-unknown'), 'urn:ngsi-ld-gateway:problem:outcome-unknown');
});

it('a syntax error says what was expected where, and quotes at most 24 characters from there', () => {
  const foundIn = (text: string, position: number) => {
    const error = new NgsiLdSyntaxError('q', position, 'a name', text);
    assert.deepEqual([error.parameter, error.position], ['q', position]);
    const start = `q: expected a name at position ${position}, found `;
    assert.ok(error.message.startsWith(start), error.message);
    return error.message.slice(start.length);
  };
  const text = 'abcdefghijklmnopqrstuvwxyz';
  assert.equal(foundIn(text, 2), '"cdefghijklmnopqrstuvwxyz"');
  assert.equal(foundIn(text, 1), '"bcdefghijklmnopqrstuvwxy…"');
  assert.equal(foundIn(text, 26), 'the end');
  assert.equal(foundIn('', 0), 'the end');
});
