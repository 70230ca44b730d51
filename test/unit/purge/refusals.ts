import assert from 'node:assert/strict';
import { QueryRefusedError } from '../../../sidecar/purge/errors.js';

/** Asserts that a query is refused as faulty, and for which reason. */
export function assertRefused(
  action: () => unknown,
  kind: QueryRefusedError['kind'],
  parameter?: string,
): QueryRefusedError {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof QueryRefusedError, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.equal(error.parameter, parameter, error.message);
    return error;
  }
  assert.fail('was not refused');
}

/** Query string of decoded parameters. */
export const queryOf = (parameters: Readonly<Record<string, string>>) =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
