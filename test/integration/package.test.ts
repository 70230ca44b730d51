import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { ensureCliBuilt } from '../support/cli-process.js';
import { packageOf } from '../support/source-imports.js';
import { ROOT } from '../support/project.js';
import { words } from '../support/words.js';

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly private?: boolean;
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const manifest = JSON.parse(read('package.json')) as Manifest;
let files: readonly string[];

before(async () => {
  await ensureCliBuilt();
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files: listed }] = JSON.parse(packed) as [{ files: readonly { path: string }[] }];
  files = listed.map(({ path }) => path);
});

it('the package contains the command line, the plugin and the documents for users, and nothing else', () => {
  const unexpected = files.filter(
    (path) =>
      !/^dist\/(?:cli(?:-[0-9A-Z]{8})?|worker)\.js$/.test(path) &&
      !/^dist\/console\/(?:index\.html|licenses\.md|assets\/[\w-]+\.(?:js|css|svg))(?:\.(?:br|gz))?$/.test(
        path,
      ) &&
      !words(`
        LICENSE README.md package.json docs/config.md dist/kong-plugins/ngsi-ld-purge.cjs
        dist/kong-pluginserver.mjs
      `).includes(path),
  );
  assert.deepEqual(unexpected, []);
  for (const needed of words(`
    dist/cli.js dist/worker.js dist/console/index.html dist/kong-plugins/ngsi-ld-purge.cjs
    dist/kong-pluginserver.mjs LICENSE
  `))
    assert.ok(files.includes(needed), needed);
  assert.ok(files.length < 700);
});

it('the package has every file that one of its files imports, and every imported package as a dependency', () => {
  let packages = 0;
  for (const path of files.filter((name) => /^dist\/[^/]+\.js$/.test(name))) {
    const text = read(path);
    assert.doesNotMatch(text, /^\/\/# sourceMappingURL/m, path);
    for (const [, specifier = ''] of text.matchAll(
      /^(?:import|export)\b[^;]*?from "([^"]+)";|\bimport\("([^"]+)"\)/gm,
    )) {
      if (specifier.startsWith('.'))
        assert.ok(files.includes(`dist/${specifier.slice(2)}`), `${path}: ${specifier}`);
      else if (!specifier.startsWith('node:') && specifier !== '') {
        packages += 1;
        assert.ok(manifest.dependencies[packageOf(specifier) ?? ''], `${path}: ${specifier}`);
      }
    }
  }
  assert.ok(packages > 10);
});

it('the installed command runs with node', () => {
  assert.deepEqual(manifest.bin, { 'ngsi-ld-gateway': 'dist/cli.js' });
  assert.match(read('dist/cli.js'), /^#!\/usr\/bin\/env node\n/);
});

it('npm ci compiles no package: package-lock.json has "gypfile": false, which npm 10 respects and npm install drops', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { readonly gypfile?: boolean }>>;
  };
  const compilable = Object.entries(packages).filter(([path]) => existsSync(join(ROOT, path, 'binding.gyp')));
  assert.deepEqual(
    compilable.map(([path, { gypfile }]) => [path, gypfile]),
    [['node_modules/better-sqlite3', false]],
  );
});
