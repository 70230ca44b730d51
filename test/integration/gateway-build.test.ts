import assert from 'node:assert/strict';
import { appendFile, cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readDockerfile } from '../support/dockerfile.js';
import { send, stopAll, stopLater } from '../support/gateway-harness.js';
import { run } from '../support/built.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { buildPlugin } from '../support/plugin-server.js';
import { ROOT } from '../support/project.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** A copy of the project, so that the dist/ of the project is not changed. */
let root: string;
const build = async () => run('npm', ['run', '--silent', 'build'], root);
const copyFor = async (dockerfile: string) => {
  for (const name of readDockerfile(dockerfile)[0]?.copies.flatMap(({ sources }) => sources) ?? [])
    await cp(join(ROOT, name), join(root, name), { recursive: true });
};
const kongPlugins = async () => readdir(join(root, 'dist/kong-plugins'), { recursive: true });

before(async () => {
  root = temporaryFolder();
  // Only the files that the image of Kong is built from.
  await copyFor('kong-plugins/Dockerfile');
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  await build();
});
after(stopAll);

it('npm run build creates the tested plugin and launcher from the files in the image of Kong', async () => {
  const tested = await buildPlugin();
  stopLater(() => tested.remove());
  const name = 'ngsi-ld-purge.cjs';
  const built = await readFile(join(root, 'dist/kong-plugins', name));
  assert.ok(built.equals(await readFile(join(tested.folder, name))));
  const launcher = await readFile(join(root, 'dist/kong-pluginserver.mjs'));
  assert.ok(launcher.equals(await readFile(tested.launcher)));
});

it('npm run build fails with one line that gives the remedy if it cannot write', async () => {
  const folder = join(root, 'a-file');
  await writeFile(folder, 'a file, where no folder can be made');
  // What the script calls at its end; all that comes before takes seconds.
  const put = `
    import { putOutputs } from ${JSON.stringify(join(root, 'scripts/outputs.js'))};
    await putOutputs([{ path: ${JSON.stringify(join(folder, 'x.js'))}, contents: Buffer.of() }], ${JSON.stringify(folder)});`;
  await assert.rejects(
    run(process.execPath, ['--input-type=module', '-e', put], root),
    /ended with 1: Cannot write \/.*\/a-file \(.*\)\. Use a copy .*\n$/,
  );
});

describe('npm run build, once more and with the files in the image of the sidecar', () => {
  let gateway: GatewayProcess;
  let unchanged: number;
  const launcher = async () => (await stat(join(root, 'dist/kong-pluginserver.mjs'))).ino;

  before(async () => {
    assert.deepEqual(await kongPlugins(), ['ngsi-ld-purge.cjs']);
    // The image of Kong has no console.
    gateway = await GatewayProcess.start({ PORT: '0', CONSOLE: 'off' }, root);
    await gateway.url();
    unchanged = await launcher();
    await mkdir(join(root, 'dist/kong-plugins/old'), { recursive: true });
    await writeFile(join(root, 'dist/kong-plugins/old.cjs'), 'throw new Error()');
    await writeFile(join(root, 'dist/sidecar/old.js'), 'throw new Error()');
    await copyFor('sidecar/Dockerfile');
    await appendFile(join(root, 'sidecar/gateway.ts'), '\nexport const changed = true;\n');
  });

  it('npm run build does not disturb a gateway that runs from its result', async () => {
    const url = await gateway.url();
    // The build replaces changed files and leaves the others unchanged.
    const building = build();
    const during = await send(url, 'DELETE', '/ngsi-ld/v1/entities?type=Vehicle');
    assert.equal(during.status, 204);
    assert.notEqual(during.headers.get('purge-deleted'), '0');
    await building;
    assert.equal((await send(url, 'GET', '/health/ready')).status, 200);
    assert.equal(await launcher(), unchanged);
    const next = await GatewayProcess.start({ PORT: '0' }, root);
    assert.equal((await send(await next.url(), 'GET', '/health/ready')).status, 200);
    gateway.signal('SIGTERM');
    assert.deepEqual(await gateway.ended, { code: 0, signal: null });
  });

  it('npm run build leaves one file for Kong, and removes outdated files', async () => {
    assert.deepEqual(
      (await kongPlugins()).filter((name) => name.includes('.')),
      ['ngsi-ld-purge.cjs'],
    );
    assert.ok(!(await readdir(join(root, 'dist/sidecar'))).includes('old.js'));
  });

  it('npm run build creates everything that the image of the sidecar needs from the files in that image', async () => {
    for (const name of ['sidecar/main.js', 'sidecar/worker.js', 'cli.js', 'console/index.html'])
      assert.ok((await stat(join(root, 'dist', name))).isFile(), name);
  });
});
