import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { ROOT } from '../support/project.js';

type TestResult = 'passed' | 'failed' | 'timed-out';

/**
 * A compiled copy of the project in a temporary folder, in which sources can be changed and tests
 * run. It is removed when the process ends.
 */
export interface ProjectCopy {
  /**
   * Compiles another text in place of a source.
   * @throws if it is not TypeScript
   */
  put(path: string, text: string): Promise<void>;
  /** Runs a test file; everything it started is ended with it. */
  run(testFile: string, timeoutMs: number): Promise<TestResult>;
}

const COMPILED = '.tests';

export async function copyProject(): Promise<ProjectCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'mutants-'));
  let running: number | undefined;
  process.once('exit', () => {
    endGroup(running);
    rmSync(folder, { recursive: true, force: true });
  });
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = listed.split('\0').filter((file) => file !== '' && file !== 'node_modules');
  await Promise.all(files.map((file) => cp(join(ROOT, file), join(folder, file)).catch(ignoreMissing)));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await build({
    absWorkingDir: folder,
    entryPoints: files.filter((file) => /\.tsx?$/.test(file)),
    outdir: join(folder, COMPILED),
    outbase: folder,
    platform: 'node',
    target: 'node22.19',
    format: 'esm',
    logLevel: 'warning',
  });
  return {
    async put(path, text) {
      const { code } = await transform(text, {
        loader: path.endsWith('.tsx') ? 'tsx' : 'ts',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        target: 'node22.19',
        logLevel: 'silent',
      });
      await writeFile(compiledPath(folder, path), code);
    },
    async run(testFile, timeoutMs) {
      const child = spawn(process.execPath, [compiledPath(folder, testFile)], {
        cwd: folder,
        stdio: 'ignore',
        // A separate process group, so that everything the test started can be ended with it.
        detached: true,
        env: { ...process.env, NODE_ENV: 'test' },
      });
      running = child.pid;
      const ended = once(child, 'exit');
      const timer = setTimeout(() => endGroup(child.pid), timeoutMs);
      const [code, signal] = (await ended) as [number | null, string | null];
      clearTimeout(timer);
      endGroup(child.pid);
      running = undefined;
      if (signal === 'SIGKILL') return 'timed-out';
      return code === 0 ? 'passed' : 'failed';
    },
  };
}

function compiledPath(folder: string, path: string): string {
  return join(folder, COMPILED, path.replace(/\.tsx?$/, '.js'));
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

/** Listed files may have been deleted without a commit. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
