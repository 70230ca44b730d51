import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, posix } from 'node:path';
import { before, it } from 'node:test';
import { parse } from 'yaml';
import { ensureBuilt } from '../support/built.js';
import { readDockerfile, type Copy, type Stage } from '../support/dockerfile.js';
import { ROOT } from '../support/project.js';
import { packageOf } from '../support/source-imports.js';
import { listening } from '../support/listening.js';

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
};

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly tmpfs: readonly string[];
}

/** The images, each with the user that its base image adds to root, and the service that uses the image. */
const IMAGES = [
  { file: 'sidecar/Dockerfile', user: 'node', service: services['sidecar'] },
  { file: 'kong-plugins/Dockerfile', user: 'kong', service: services['kong'] },
].map((image) => {
  const stages = readDockerfile(image.file);
  return { ...image, stages, last: stages.at(-1) ?? assert.fail(image.file) };
});

before(ensureBuilt);

it('all files that the images copy exist and are sent to the builder', () => {
  for (const { file, stages } of IMAGES) {
    const sources = stages.flatMap(({ copies }) =>
      copies.filter(({ from }) => from === undefined).flatMap((copy) => copy.sources),
    );
    assert.ok(sources.length > 5, file);
    for (const source of sources) {
      assert.ok(existsSync(join(ROOT, source)), `${file}: ${source} is there`);
      assert.ok(isSent(source), `${file}: ${source} is sent`);
    }
  }
});

it('the images copy from an earlier stage only files that the stage has copied or made', () => {
  for (const { file, stages } of IMAGES) {
    assert.ok(
      stages.some(({ copies }) => copies.some(({ from }) => from !== undefined)),
      file,
    );
    for (const [index, { copies }] of stages.entries())
      for (const { from, sources } of copies.filter((copy) => copy.from !== undefined)) {
        const stage = stages.slice(0, index).find(({ name }) => name === from);
        const made = stage === undefined ? [] : pathsIn(stage);
        for (const source of sources)
          assert.ok(
            made.some((path) => isWithin(source, path)),
            `${file}: ${String(from)} has ${source}`,
          );
      }
  }
});

it('the images run as an unprivileged user of their base image', () => {
  for (const { file, user, last } of IMAGES) {
    assert.equal(last.instructions.at(-1)?.user, user, file);
    assert.equal(last.base.split(':')[0], user, `the image ${user} has a user ${user}`);
  }
});

it('the programs that the images start are in the images', () => {
  for (const { file, last, service } of IMAGES) {
    const started = [
      ...commandOf(last, 'ENTRYPOINT'),
      ...commandOf(last, 'CMD'),
      ...(service?.environment['KONG_PLUGINSERVER_JS_START_CMD'] ?? '').split(' '),
    ].filter((word) => /\.\w+$/.test(word) && !word.endsWith('.sock'));
    assert.ok(started.length > 0, file);
    for (const path of started)
      assert.ok(
        pathsIn(last).some((target) => isWithin(posix.resolve(folderOf(last), path), target)),
        `${file}: ${path}`,
      );
    assert.ok(pathsIn(last).includes('/usr/local/bin/node'), file);
  }
});

it('files copied from the host are readable for the user of the image, whatever the umask of the host', () => {
  for (const { file, last } of IMAGES) {
    assert.ok(last.copies.length > 0, file);
    for (const copy of last.copies)
      assert.ok(isMade(copy) || /^[67][45][45]$/.test(copy.mode ?? ''), `${file}: ${copy.sources.join(' ')}`);
  }
});

it('the user of the sidecar’s image, and any user of group 0, may write the folder of the database, where the volume is mounted', () => {
  const [{ last, user, service }] = IMAGES as [(typeof IMAGES)[0]];
  const settings = last.instructions.find(({ name }) => name === 'ENV')?.text ?? '';
  const folder = posix.dirname(/DATABASE_PATH=(\S+)/.exec(settings)?.[1] ?? '');
  const made = last.instructions.find(({ name, text }) => name === 'RUN' && text.includes('chown'));
  assert.deepEqual(
    [made?.user, made?.text],
    ['root', `mkdir ${folder} && chown ${user}:0 ${folder} && chmod 775 ${folder}`],
    'a new volume has the owner and mode that its folder has in the image',
  );
  assert.deepEqual(service?.volumes, [`sidecar-data:${folder}`]);
  assert.equal(posix.dirname(service.environment['DATABASE_PATH'] ?? ''), folder);
});

it('the folders to which Kong’s image writes are tmpfs in docker-compose.yml', () => {
  const { environment = {}, tmpfs = [] } = services['kong'] ?? {};
  assert.ok(tmpfs.includes(environment['KONG_PREFIX'] ?? ''));
  assert.ok(tmpfs.includes(posix.dirname(environment['KONG_DECLARATIVE_CONFIG'] ?? '')));
});

it('each tmpfs in docker-compose.yml is a folder that any user of the image may write to, so that a container also starts again', () => {
  for (const { file, last, service } of IMAGES) {
    const folders = service?.tmpfs.map((mount) => mount.split(':')[0] ?? '') ?? [];
    assert.ok(folders.includes('/tmp'), file);
    // Base images have /tmp, with this mode.
    for (const folder of folders.filter((name) => name !== '/tmp'))
      assert.ok(
        last.instructions.some(
          ({ name, user, text }) =>
            name === 'RUN' && user === 'root' && text === `install -d -m 1777 ${folder}`,
        ),
        `${file}: ${folder}`,
      );
  }
});

it('the images have the Node.js version of npm scripts', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  const version = packages['node_modules/node']?.version ?? assert.fail();
  const bases = IMAGES.flatMap(({ stages }) => stages.map(({ base }) => base));
  const own = bases.filter((name) => name.startsWith('node:'));
  assert.ok(own.length > 0);
  for (const base of own) assert.equal(base, `node:${version}-bookworm-slim`);
});

it('the sidecar’s image imports no development dependency', () => {
  const { dependencies } = JSON.parse(read('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const files = readdirSync(join(ROOT, 'dist/sidecar'));
  const imported = files
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...read(`dist/sidecar/${name}`).matchAll(
        /^(?:import|export)\b[^;]*? from "([^"]+)";|^import "([^"]+)";|\bimport\("([^"]+)"\)/gm,
      ),
    ])
    .map(([, from, alone, dynamic]) => packageOf(from ?? alone ?? dynamic ?? '.'))
    .filter((name) => name !== undefined);
  assert.ok(new Set(imported).size > 10);
  for (const name of imported) assert.ok(dependencies[name], name);
});

it('the sidecar’s image is healthy while /health/live answers 200', async (t) => {
  const check = IMAGES[0]?.last.instructions.find(({ name }) => name === 'HEALTHCHECK')?.text ?? '';
  const [program, ...args] = JSON.parse(/CMD (\[.*\])$/.exec(check)?.[1] ?? '[]') as string[];
  assert.equal(program, 'node');
  let status = 200;
  const server = createServer(({ url }, response) =>
    response.writeHead(url === '/health/live' ? status : 404).end(),
  );
  const { port, close } = await listening(server);
  t.after(close);
  const outcome = async () => {
    const child = execFile(process.execPath, args, { env: { PORT: String(port) } });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  assert.equal(await outcome(), 0);
  status = 503;
  assert.equal(await outcome(), 1);
  await close();
  assert.equal(await outcome(), 1);
});

/** Whether .dockerignore lets a path through: the last matching pattern decides. */
function isSent(source: string): boolean {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const parents = source.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
  const last = patterns.findLast((pattern) =>
    parents.some((path) => posix.matchesGlob(path, pattern.replace(/^!/, ''))),
  );
  assert.equal(patterns[0], '*', 'nothing but what is named is sent');
  return last?.startsWith('!') ?? true;
}

/** Absolute paths of the files that this project has put into a stage. */
function pathsIn({ base, instructions, copies }: Stage): readonly string[] {
  const runs = instructions.filter(({ name }) => name === 'RUN');
  const made = runs.flatMap(({ text, folder }) => [
    ...(text.includes('npm ci') ? [`${folder}/node_modules`] : []),
    ...(text.includes('npm run build') ? [`${folder}/dist`] : []),
  ]);
  return [
    ...(base.startsWith('node:') ? ['/usr/local/bin/node'] : []),
    ...copies.flatMap(({ targets }) => targets),
    ...made,
  ];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Whether a stage of the build made the files, so that they have the modes of that stage. */
function isMade({ from, sources }: Copy): boolean {
  return from !== undefined && sources.every((source) => !/\.[a-z]+$/.test(source));
}

function folderOf({ instructions }: Stage): string {
  return instructions.at(-1)?.folder ?? '/';
}

/** The words of the last CMD or ENTRYPOINT. */
function commandOf({ instructions }: Stage, name: string): readonly string[] {
  const text = instructions.findLast((instruction) => instruction.name === name)?.text ?? '[]';
  return JSON.parse(text) as string[];
}
