import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entriesOf } from './repositories.js';
import { temporaryFolder } from './temporary-folder.js';

type Files = Readonly<Record<string, unknown>>;

/** Creates a new folder with files. */
export function folderOf(files: Files, name = 'city'): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder);
  put(folder, files);
  return folder;
}

/** Writes files below a folder. */
export function put(folder: string, files: Files): void {
  for (const { name, content = '' } of entriesOf(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Runs git in a folder. */
export function git(folder: string, ...words: readonly string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', ['-C', folder, ...identity, ...words], { stdio: 'ignore' });
}
