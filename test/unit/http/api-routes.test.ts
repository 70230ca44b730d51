import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isApiPath, matches } from '../../../sidecar/http/api/routes.js';

describe('the paths of a route', () => {
  it('the paths of a route are those that spell it exactly', () => {
    const route = '/api/v2/domains/:domain/models/:model';
    for (const path of [
      '/api/v2/domains/a/models/b',
      '/api/v2/domains/a%20b/models/...',
      '/api/v2/domains/~/models/%C3%A4',
    ])
      assert.equal(matches(route, path), true, path);
    for (const path of [
      '/api/v2/domains/a/models/',
      '/api/v2/domains/a/models',
      '/api/v2/domains//models/b',
      '/api/v2/domains/a/models/b/',
      '/api/v2/domains/a/model%73/b',
      '/api/v2/Domains/a/models/b',
      '/api/v2/domains/../models/b',
      '/api/v2/domains/%2E%2e/models/b',
      '/api/v2/domains/./models/b',
      '/api/v2/domains/a%2Fb/models/b',
      '/api/v2/domains/a%5cb/models/b',
      '/api/v2/domains/a\\b/models/b',
      '/api/v2/domains/a;b/models/b',
      '/api/v2/domains/a/models/b#c',
      'api/v2/domains/a/models/b',
      '',
    ])
      assert.equal(matches(route, path), false, path);
  });

  it('the paths of the API are those below /api/v2', () => {
    for (const path of ['/api/v2', '/api/v2/', '/api/v2/x']) assert.equal(isApiPath(path), true, path);
    for (const path of ['/api/v2x', '/api/v', '/x/api/v2', '/ngsi-ld/v1'])
      assert.equal(isApiPath(path), false, path);
  });
});
