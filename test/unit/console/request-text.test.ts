import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { formOf, queryOf } from '../../../console/purge/form.js';
import { commandOf, type Credential, curlOf, requestLine } from '../../../console/purge/request-text.js';
import { words } from '../../support/words.js';

const BASE = 'http://127.0.0.1:8080/';

/** The words into which a POSIX shell splits a command. */
function wordsOf(command: string): readonly string[] {
  const script = `set -- ${command}\nfor word do printf '%s\\0' "$word"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const hostile = `q=name==%22it's%20$(touch%20x)%20%60x%60%22`;

it('the request is shown with its method, path and query', () => {
  const form = formOf('temporal', 'type=Car');
  assert.equal(requestLine(form, queryOf(form)), 'DELETE /ngsi-ld/v1/temporal/entities?type=Car');
});

it('the curl command sends exactly the request that the console sends, whatever the values contain', () => {
  const form = formOf('entities', hostile, { tenant: "o'hara; rm -rf", link: '<http://c.test>; rel="x"' });
  const query = queryOf(form);
  assert.deepEqual(wordsOf(curlOf(form, query, BASE)), [
    'curl',
    '-X',
    'DELETE',
    `${BASE}ngsi-ld/v1/entities?${query}`,
    '-H',
    'Prefer: respond-async',
    '-H',
    "NGSILD-Tenant: o'hara; rm -rf",
    '-H',
    'Link: <http://c.test>; rel="x"',
  ]);
});

it('the curl command takes the token from the environment, and never shows it', () => {
  const form = formOf('entities', 'type=Car');
  const curl = (credential: Credential) => curlOf(form, queryOf(form), BASE, credential);
  assert.match(curl('gateway token'), /-H "X-Gateway-Token: \$NGSILD_GATEWAY_TOKEN"$/);
  assert.match(curl('access token'), /-H "Authorization: Bearer \$ACCESS_TOKEN"$/);
});

it('the command has the query, the tenant and the context as words of their own', () => {
  const link = '<http://c.test/x.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';
  const form = formOf('temporal', hostile, { tenant: "o'hara", link });
  const query = queryOf(form);
  assert.deepEqual(wordsOf(commandOf(form, query, BASE)), [
    'npx',
    'ngsi-ld-gateway',
    'purge',
    '--gateway',
    'http://127.0.0.1:8080',
    '--temporal',
    '--tenant',
    "o'hara",
    '--link',
    'http://c.test/x.jsonld',
    query,
  ]);
});

it('the command has the bound and the rate as options, the only way to give them', () => {
  const form = formOf('entities', 'type=Car&maxAffected=5&maxPerSecond=20&record=ids');
  assert.deepEqual(
    wordsOf(commandOf(form, queryOf(form), BASE)).slice(5),
    words(`
    --max-affected 5 --rate 20 type=Car&record=ids
  `),
  );
});

it('the command has a dry run as an option, and leaves other parameters in the query', () => {
  const wordsFor = (query: string) => wordsOf(commandOf(formOf('entities', query), query, BASE)).slice(5);
  assert.deepEqual(wordsFor('type=Car&dryRun=true'), ['--dry-run', 'type=Car']);
  for (const query of ['type=Car&dryRun=maybe', 'type=Car&dryRun=true&dryRun=true', 'type=Car&maxAffected='])
    assert.deepEqual(wordsFor(query), [query]);
});

it('a bound that is given twice stays in the query of the command, which refuses it', () => {
  const query = 'type=Car&maxAffected=5&maxAffected=9';
  assert.deepEqual(wordsOf(commandOf(formOf('entities', query), query, BASE)).slice(5), [query]);
});

it('blanks around a tenant are removed, as in requests of the console', () => {
  for (const [typed, words] of [
    [' madrid ', 1],
    ['   ', 0],
  ] as const) {
    const form = formOf('entities', 'type=Car', { tenant: typed });
    const shown = [curlOf(form, 'type=Car', BASE), commandOf(form, 'type=Car', BASE)];
    for (const text of shown)
      assert.equal(wordsOf(text).filter((word) => /^(?:NGSILD-Tenant: )?madrid$/.test(word)).length, words);
    assert.ok(words === 1 || shown.every((text) => !/tenant/i.test(text)));
  }
});
