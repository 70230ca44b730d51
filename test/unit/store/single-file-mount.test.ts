import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { isMount, isMountedAlone } from '../../../sidecar/store/single-file-mount.js';
import { ROOT } from '../../support/project.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** As in a container of Docker: a volume, a file in a folder whose name has a space, and a file that a later mount hides. */
const MOUNTINFO = String.raw`1088 987 0:132 / / rw,relatime master:305 - overlay overlay rw,lowerdir=/var/lib/docker
1100 1088 254:1 /docker/volumes/data/_data /data rw,relatime master:1 - ext4 /dev/vda1 rw
1101 1088 254:1 /home/me/schema.db /my\040data/schema.db rw,relatime master:1 - ext4 /dev/vda1 rw
1104 1100 254:1 /home/me/schema.db /data/in/a/folder.db rw,relatime master:1 - ext4 /dev/vda1 rw
1102 1088 254:1 /home/me/schema.db /hidden/schema.db rw,relatime master:1 - ext4 /dev/vda1 rw
1103 1088 254:1 /home/me /hidden rw,relatime master:1 - ext4 /dev/vda1 rw
`;

it('a path is a mount if it is mounted itself, unless a later mount of its folder hides that', () => {
  for (const [path, expected] of [
    ['/home/me/schema.db', false],
    ['/data', true],
    ['/data/schema.db', false],
    ['/my data/schema.db', true],
    ['/my data/schema.db-wal', false],
    ['/my data', false],
    ['/data/in/a/folder.db', true],
    ['/hidden/schema.db', false],
  ] as const)
    assert.equal(isMount(path, MOUNTINFO), expected, path);
});

it('a file that is no mount, or does not exist, is not mounted alone', () => {
  for (const file of [import.meta.filename, '/nowhere/schema.db']) assert.equal(isMountedAlone(file), false);
});

it('a place that the system mounts is found as one', { skip: !existsSync('/proc/self/mountinfo') }, () => {
  assert.equal(isMountedAlone('/proc'), true);
});

const OWN_MOUNTS = ['--user', '--map-root-user', '--mount'];
const mayMount = spawnSync('unshare', [...OWN_MOUNTS, 'true']).status === 0;

it(
  'a database that is mounted as a single file is refused, and one whose folder is mounted is used',
  { skip: mayMount ? false : 'this user may not mount' },
  () => {
    const folder = temporaryFolder();
    const module = join(ROOT, 'sidecar/store/open-database.js');
    const opened = (source: string, target: string) => {
      const code = `import(${JSON.stringify(module)}).then(({ openDatabase }) => openDatabase(${JSON.stringify(join(folder, 'inside/schema.db'))}).close())`;
      const script = `mount --bind ${join(folder, source)} ${join(folder, target)} && exec "$0" --import tsx --eval '${code}'`;
      return spawnSync('unshare', [...OWN_MOUNTS, 'sh', '-c', script, process.execPath], { cwd: ROOT });
    };
    for (const name of ['host', 'inside']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'schema.db'), '');
    }
    const alone = opened('host/schema.db', 'inside/schema.db');
    assert.notEqual(alone.status, 0);
    assert.match(
      alone.stderr.toString(),
      /mounted as a single file.*mount the folder of the database instead/,
    );
    const whole = opened('host', 'inside');
    assert.equal(whole.status, 0, whole.stderr.toString());
  },
);
