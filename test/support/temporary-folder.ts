import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** Creates a new folder, which is removed when the process ends. */
export function temporaryFolder(): string {
  if (folders.length === 0)
    process.on('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  folders.push(folder);
  return folder;
}
