import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { fakeGateway, FakeContext, GATEWAY, jsonResponse } from '../../support/cli-context.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

function home() {
  const folder = temporaryFolder();
  const file = join(folder, '.config', 'ngsi-ld-gateway', 'config.json');
  const run = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const context = new FakeContext({ env: { HOME: folder, PATH: process.env['PATH'] ?? '', ...env } });
    return { code: await context.run(...words), out: context.out, err: context.err };
  };
  return { folder, file, run };
}

describe('contexts', () => {
  it('commands go to the gateway of the current context, with the token that its command prints', async (t) => {
    const { file, run } = home();
    const set = (name: string, ...words: readonly string[]) => run(['config', 'set-context', name, ...words]);
    await set('test', '--gateway', GATEWAY, '--token-command', 'echo secret-1; echo');
    await set('other', '--gateway', 'http://other.test');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { out } = await run(['config', 'list']);
    assert.equal(
      out,
      [
        '   NAME   GATEWAY                   TOKEN',
        '*  test   http://gateway.test/base  by command',
        '   other  http://other.test/        none\n',
      ].join('\n'),
    );
    const asked = fakeGateway(t, () => jsonResponse([]));
    const listed = await run(['purges', 'list']);
    assert.deepEqual([listed.code, asked[0]?.headers.get('x-gateway-token')], [0, 'secret-1']);
    // The token of this context is not sent to a gateway named in another way.
    await run(['purges', 'list', '--gateway', GATEWAY], { NGSILD_GATEWAY_TOKEN: 'mine' });
    await run(['purges', 'list'], { NGSILD_GATEWAY_URL: GATEWAY });
    assert.deepEqual(
      asked.slice(1).map(({ headers }) => headers.get('x-gateway-token')),
      ['mine', null],
    );
    assert.equal((await run(['config', 'use-context', 'other'])).code, 0);
    for (const words of [['use-context', 'other'], ['list']])
      assert.match(
        (await run(['config', ...words], { NGSILD_GATEWAY_URL: GATEWAY })).err,
        /^Warning: NGSILD_GATEWAY_URL is set, so commands use that gateway\.\n$/,
      );
    assert.match((await run(['config', 'list', '-o', 'json'])).out, /"name":"other",[^\n]*"isCurrent":true/);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /"secret-1"/);
  });

  it('contexts are kept below XDG_CONFIG_HOME, unless that is a relative path', async () => {
    const { file, folder, run } = home();
    const set = (name: string, XDG_CONFIG_HOME: string) =>
      run(['config', 'set-context', name, '--gateway', GATEWAY], { XDG_CONFIG_HOME });
    const chosen = join(folder, 'chosen');
    assert.equal((await set('absolute', chosen)).code, 0);
    assert.ok(existsSync(join(chosen, 'ngsi-ld-gateway', 'config.json')));
    assert.equal(existsSync(file), false);
    for (const relative of ['.', 'config', './config', ''])
      assert.equal((await set('home', relative)).code, 0);
    assert.deepEqual(Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { contexts: object }).contexts), [
      'home',
    ]);
  });

  it('set-context says why it fails if its folder cannot be created', async () => {
    const { run, folder } = home();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const HOME of [file, ...(existsSync('/proc/self') ? ['/proc/nobody'] : [])]) {
      const { code, err } = await run(['config', 'set-context', 'x', '--gateway', GATEWAY], { HOME });
      assert.equal(code, EXIT.failed, HOME);
      assert.match(err, /^\S+config\.json cannot be written: E[A-Z]+: /);
    }
  });

  it('a token that has expired is requested again, and a token that was never accepted is not', async (t) => {
    const { folder, run } = home();
    const next = `echo >> '${folder}/runs'; echo "Bearer t$(wc -l < '${folder}/runs')"`;
    await run(['config', 'set-context', 'x', '--gateway', GATEWAY, '--token-command', next]);
    let accepted = ['Bearer t1', 'Bearer t2', 'Bearer t2'];
    const asked = fakeGateway(t, ({ headers, target }) => {
      if (headers.get('authorization') !== accepted[0])
        return jsonResponse({ status: 401 }, 401, { 'www-authenticate': 'Bearer' });
      accepted.shift();
      return jsonResponse(/versions|contexts/.test(target) ? [] : { name: 'M', version: 1, warnings: [] });
    });
    const tokens = () => asked.map(({ headers }) => headers.get('authorization'));
    assert.equal((await run(['models', 'get', 'D/M', '--json'])).code, 0);
    assert.deepEqual(tokens(), ['Bearer t1', 'Bearer t1', 'Bearer t2', 'Bearer t2']);
    accepted = ['none'];
    assert.equal((await run(['models', 'get', 'D/M', '--json'])).code, EXIT.refused);
    assert.deepEqual(tokens().slice(4), ['Bearer t3']);
  });

  it('a missing context, a failing token command and a file writable by others are reported as mistakes', async () => {
    const { file, run } = home();
    for (const [words, message] of [
      [['config', 'use-context', 'x'], 'There is no context x.'],
      [['config', 'set-context', 'x'], 'add --gateway URL'],
      [['config', 'set-context', 'a:b $(c)', '--gateway', GATEWAY], 'must begin with a letter or digit'],
      [['config', 'set-context', 'x', '--gateway', 'http://u:pw@g'], 'must not contain credentials'],
    ] as const) {
      const { code, err } = await run(words);
      assert.deepEqual([code, err.includes(message)], [EXIT.usage, true], err);
    }
    await run([
      'config',
      'set-context',
      'x',
      '--gateway',
      GATEWAY,
      '--token-command',
      'echo leaked >&1; exit 3',
    ]);
    const failed = await run(['purges', 'list']);
    assert.equal(failed.code, EXIT.failed);
    assert.doesNotMatch(failed.err, /leaked/);
    chmodSync(file, 0o666);
    assert.match((await run(['purges', 'list'])).err, /Other users can write to .*chmod 600/);
  });
});

describe('completion', () => {
  it('a context is deleted after a yes, and none is current if it was that one', async () => {
    const { folder, run } = home();
    for (const name of ['one', 'two'])
      await run(['config', 'set-context', name, '--gateway', `http://${name}.test`]);
    const names = async () =>
      (await run(['config', 'list', '--json'])).out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { readonly name: string; readonly isCurrent: boolean })
        .map(({ name, isCurrent }) => (isCurrent ? `${name}*` : name));
    assert.deepEqual(await names(), ['one*', 'two']);
    const missing = await run(['config', 'delete-context', 'toString', '--yes']);
    assert.deepEqual(
      [missing.code, missing.err],
      [EXIT.usage, 'There is no context toString. Available: one, two.\n'],
    );
    const unasked = await run(['config', 'delete-context', 'two']);
    assert.equal(unasked.code, EXIT.usage);
    assert.match(unasked.err, /no terminal .* add --yes/);
    const asking = async (answer: string) => {
      const context = new FakeContext({ env: { HOME: folder }, isTerminal: true });
      context.onQuestion = (text) => {
        if (text.includes('[y/N]')) context.stdin.write(`${answer}\n`);
      };
      return { code: await context.run('config', 'delete-context', 'one'), err: context.err };
    };
    const no = await asking('n');
    assert.equal(no.code, EXIT.interrupted);
    assert.match(
      no.err,
      /Delete the context one: http:\/\/one\.test\/\? \[y\/N\][^]*Nothing was deleted\.\n$/,
    );
    assert.deepEqual(await names(), ['one*', 'two']);
    const yes = await asking('y');
    assert.equal(yes.code, EXIT.done);
    assert.match(yes.err, /No context is current now/);
    assert.deepEqual(await names(), ['two']);
    const last = await run(['config', 'delete-context', 'two', '--yes', '--json']);
    assert.deepEqual([last.code, last.err], [EXIT.done, '']);
    assert.deepEqual(JSON.parse(last.out), { name: 'two', gateway: 'http://two.test/' });
    assert.deepEqual(await names(), []);
  });

  it('a file of contexts may have a byte order mark, and an invalid URL of a gateway is named', async () => {
    const { file, run } = home();
    await run(['config', 'set-context', 'test', '--gateway', GATEWAY]);
    const written = readFileSync(file, 'utf8');
    writeFileSync(file, `\ufeff${written}`);
    assert.match((await run(['config', 'list'])).out, /\* {2}test/);
    writeFileSync(file, written.replace('http:', 'localhost:'));
    const { code, err } = await run(['models', 'list']);
    assert.equal(code, EXIT.usage);
    assert.match(err, /^The gateway of the current context must be an http or https URL/);
    writeFileSync(file, written.slice(1));
    assert.match((await run(['models', 'list'])).err, /config\.json is not JSON: /);
  });

  it('completes commands, options, values of options and names of contexts', async () => {
    const { run } = home();
    await run(['config', 'set-context', 'production', '--gateway', GATEWAY]);
    for (const [line, found] of [
      [['comp'], ['compact', 'completion']],
      [['purges', 'c'], ['cancel']],
      [['purges', 'list', '--dry'], ['--dry-run']],
      [
        ['purges', 'list', '-o', ''],
        ['table', 'json', 'yaml'],
      ],
      [['purges', 'list', '--output=y'], ['--output=yaml']],
      [['purges', 'list', '--output', '=', 'y'], ['yaml']],
      [
        ['purges', 'list', '--output', '='],
        ['table', 'json', 'yaml'],
      ],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['config', 'use-context', 'p'], ['production']],
      [['config', 'delete-context', ''], ['production']],
      [['retention', 'd'], ['delete']],
      [['write-policies', 'delete', '--y'], ['--yes']],
      [['validate', 'file'], []],
    ] as const) {
      const { out, code } = await run(['complete', '--', ...line]);
      assert.deepEqual([code, out.split('\n').slice(0, -1)], [0, found], line.join(' '));
    }
  });

  it('completion scripts exist for bash, zsh and fish only', async () => {
    const { run } = home();
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await run(['completion', shell])).out, /ngsi-ld-gateway complete -- /);
    assert.equal((await run(['completion', 'tcsh'])).code, EXIT.usage);
  });

  for (const [shell, complete] of Object.entries({
    bash: 'COMP_WORDS=(ngsi-ld-gateway purges c); COMP_CWORD=2; _ngsi_ld_gateway; printf "%s\\n" "${COMPREPLY[@]}"',
    // The script is a file in fpath, whose first call already completes. compadd works only within completions.
    zsh: 'compadd() { print -l $found; }; words=(ngsi-ld-gateway purges c); CURRENT=3; _ngsi-ld-gateway',
    fish: 'complete -C "ngsi-ld-gateway purges c"',
  }))
    it(`${shell} completes exactly the words that the program prints`, async (t) => {
      if (spawnSync(shell, ['--version']).error) {
        t.skip(`${shell} is not installed`);
        return;
      }
      const { run, folder } = home();
      const script = (await run(['completion', shell])).out;
      writeFileSync(join(folder, '_ngsi-ld-gateway'), script);
      const program = '#!/bin/sh\n[ "$*" = "complete -- purges c" ] && printf "cancel\\ncopy\\n"\n';
      writeFileSync(join(folder, 'ngsi-ld-gateway'), program, { mode: 0o755 });
      const load =
        shell === 'zsh' ? 'fpath=(. $fpath); autoload -Uz _ngsi-ld-gateway' : 'source ./_ngsi-ld-gateway';
      const { stdout } = spawnSync(shell, ['-c', `${load}; ${complete}`], {
        cwd: folder,
        env: { HOME: folder, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
        encoding: 'utf8',
      });
      assert.deepEqual(stdout.trim().split('\n'), ['cancel', 'copy']);
    });
});
