import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stopLater } from './gateway-harness.js';
import { entriesOf } from './repositories.js';

type Files = Readonly<Record<string, unknown>>;

/** A folder of its own, with files. */
export function folderOf(files: Files, name = 'city'): string {
  const around = mkdtempSync(join(tmpdir(), 'cli-models-'));
  stopLater(async () => rmSync(around, { recursive: true, force: true }));
  const folder = join(around, name);
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
