import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { fakeGateway, FakeContext, GATEWAY, jsonResponse } from '../../support/cli-context.js';

async function run(t: TestContext, ...words: readonly string[]) {
  const requests = fakeGateway(t, () => jsonResponse([]));
  const context = new FakeContext();
  const code = await context.run(...words);
  t.mock.restoreAll();
  return { code, asked: requests.map(({ target }) => target), out: context.out, err: context.err };
}

it('options before the name of a command count as if they followed it', async (t) => {
  const direct = await run(t, 'purges', 'list', '--gateway', GATEWAY, '--state', 'running', '-o', 'json');
  assert.deepEqual([direct.code, direct.asked.length, direct.out], [EXIT.done, 1, '']);
  for (const words of [
    ['--gateway', GATEWAY, '--state', 'running', '-o', 'json', 'purges', 'list'],
    [`--gateway=${GATEWAY}`, 'purges', '--state=running', '--json', 'list'],
    ['--json', 'purges', '--gateway', GATEWAY, 'list', '--state', 'running'],
  ]) {
    const { code, asked, out, err } = await run(t, ...words);
    assert.deepEqual([code, asked, out, err], [EXIT.done, direct.asked, '', ''], words.join(' '));
  }
});

it('a value before the name of a command is not taken for that name', async (t) => {
  const { asked } = await run(t, '--policy', 'list', '--gateway', GATEWAY, 'purges', 'list');
  assert.match(asked[0] ?? '', /[?&]retentionPolicy=list(?:&|$)/);
});

it('what is wrong before the name of a command is refused, and nothing is sent', async (t) => {
  for (const [words, message] of [
    [['--gateway', GATEWAY, 'prges', 'list'], /^error: unknown command 'prges'\n\(Did you mean purges\?\)/],
    [['--gatway', GATEWAY, 'purges', 'list'], /^error: unknown option '--gatway'/],
    [['--gateway', GATEWAY, '--', 'purges', 'list'], /^error: unknown option '--gateway'/],
    [
      ['--gateway', GATEWAY, '--id', 'urn:a:1', 'purges', 'restore', 'p'],
      /^error: unknown option '--gateway'/,
    ],
    [['--gateway'], /^error: unknown option '--gateway'/],
    [['--rate', '5', 'purges', 'list', '--gateway', GATEWAY], /^error: unknown option '--rate'/],
    [['--gateway', GATEWAY], /^Usage: ngsi-ld-gateway \[options\] \[command\]/],
    [['purges', '--gateway', GATEWAY], /^Usage: ngsi-ld-gateway purges /],
  ] as const) {
    const { code, asked, err } = await run(t, ...words);
    assert.deepEqual([code, asked], [EXIT.usage, []], words.join(' '));
    assert.match(err, message);
  }
});

it('help shows the help of the command that is named, also after an option', async (t) => {
  for (const [words, name] of [
    [['--gateway', GATEWAY, 'purges', '--help'], 'purges [options] [command]'],
    [['help'], '[options] [command]'],
    [['help', 'purges'], 'purges [options] [command]'],
    [['help', 'purges', 'show'], 'purges show [options] <id>'],
    [['purges', 'help', 'show'], 'purges show [options] <id>'],
  ] as const) {
    const { code, out } = await run(t, ...words);
    assert.deepEqual(
      [code, out.split('\n')[0]],
      [EXIT.done, `Usage: ngsi-ld-gateway ${name}`],
      words.join(' '),
    );
  }
});
