/**
 * Tests a running gateway, standalone or behind Kong, with three entities that it creates itself:
 * node scripts/smoke.js http://127.0.0.1:8000
 *
 * Waits up to two minutes until purges work. Prints a line for each check, and exits with 1 at the first failure.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , base = 'http://127.0.0.1:8080'] = process.argv;
const START_MS = 120_000;
const type = `Smoke${randomUUID().replaceAll('-', '')}`;
const entities = '/ngsi-ld/v1/entities';

await started();
for (const speed of [40, 60, 80]) {
  const created = await send('POST', entities, {
    id: `urn:ngsi-ld:${type}:${speed}`,
    type,
    speed: { type: 'Property', value: speed },
  });
  check('an entity is created', created, { status: 201 });
}
const fast = `${entities}?type=${type}&q=speed%3E50`;
check('a dry run counts the matches', await send('DELETE', `${fast}&dryRun=true`), {
  status: 200,
  body: /"matched":2\b/,
});
check('a purge without a filter is refused', await send('DELETE', entities), { status: 400 });
check(
  'a collection that is spelled otherwise is refused',
  await send('DELETE', `${entities}//?type=${type}`),
  {
    status: 400,
  },
);
check('a purge deletes the matches', await send('DELETE', fast), { status: 204, deleted: '2' });
check('the rest is still there', await send('GET', `${entities}?type=${type}`), {
  status: 200,
  body: /^\[\{[^[]*"urn:ngsi-ld:[^"]*:40"[^[]*\}\]$/,
});
check('a purge deletes the rest', await send('DELETE', `${entities}?type=${type}`), {
  status: 204,
  deleted: '1',
});
check('the API describes itself', await send('GET', '/api/v2/openapi.json'), { status: 200 });

/** Waits until purges work: a proxy may be ready before its plugins are. */
async function started() {
  const end = Date.now() + START_MS;
  for (;;) {
    const answer = await send('DELETE', `${entities}?type=${type}&dryRun=true`).catch(String);
    if (typeof answer !== 'string' && answer.status === 200) return;
    if (Date.now() > end) {
      console.error(`${base} took no purge in two minutes:`, answer);
      process.exit(1);
    }
    await sleep(500);
  }
}

/** @param {string} method @param {string} path @param {unknown} [json] */
async function send(method, path, json) {
  const response = await fetch(base + path, {
    method,
    ...(json === undefined
      ? {}
      : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
  });
  return {
    status: response.status,
    deleted: response.headers.get('purge-deleted') ?? undefined,
    body: await response.text(),
  };
}

/**
 * @param {string} what
 * @param {{ status: number, deleted?: string | undefined, body: string }} answer
 * @param {{ status: number, deleted?: string, body?: RegExp }} wanted
 */
function check(what, answer, wanted) {
  const isRight =
    answer.status === wanted.status &&
    (wanted.deleted === undefined || answer.deleted === wanted.deleted) &&
    (wanted.body?.test(answer.body) ?? true);
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${what}`);
  if (isRight) return;
  console.error(answer);
  process.exit(1);
}
