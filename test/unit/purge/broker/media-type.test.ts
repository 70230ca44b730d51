import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mediaTypeOf } from '../../../../sidecar/purge/broker/reply.js';

it('mediaTypeOf compares without case and parameters (RFC 9110 § 8.3)', () => {
  assert.equal(mediaTypeOf('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(mediaTypeOf(' text/html ;x'), 'text/html');
  for (const none of [undefined, '', ' ', ';']) assert.equal(mediaTypeOf(none), '');
});
