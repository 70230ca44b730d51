import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Whether a file is a mount of its own, such as a single file that Docker binds into a container. The files that SQLite keeps
 * beside it are then elsewhere, and are lost with the container. Only Linux tells; elsewhere the answer is no.
 */
export function isMountedAlone(file: string): boolean {
  try {
    return isMount(realpathSync(file), readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Whether a path is a mount point, and no later mount of its folder hides it.
 *
 * @param path absolute, without symbolic links
 * @param mountinfo a file `mountinfo`; see proc_pid_mountinfo(5)
 */
export function isMount(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').map((line) => {
    const [id, parent, , , point = ''] = line.split(' ');
    return { id, parent, point: unescaped(point) };
  });
  let folder = dirname(path);
  while (folder !== '/' && mounts.every(({ point }) => point !== folder)) folder = dirname(folder);
  const around = mounts.findLast(({ point }) => point === folder);
  return mounts.some(({ parent, point }) => point === path && parent === around?.id);
}

/** White space in a path is written in octal. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
}
