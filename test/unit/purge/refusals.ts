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

/** What a parser of queries accepts, and refuses as bad data or as an invalid request. */
export const assertsAbout = <Query>(parse: (query: string) => Query) => ({
  accepted: (query: string) => parse(query),
  badData: (query: string, parameter?: string) =>
    assertRefused(() => parse(query), 'badRequestData', parameter),
  invalid: (query: string, parameter: string) =>
    assertRefused(() => parse(query), 'invalidRequest', parameter),
});

/** Query string of decoded parameters. */
export const queryOf = (parameters: Readonly<Record<string, string>>) =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
