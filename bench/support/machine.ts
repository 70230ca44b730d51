import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** The machine on which the numbers were measured. */
export interface Machine {
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** Average number of processes that wanted a core in the last minute. */
  readonly load: number;
}

export function thisMachine(): Machine {
  const cores = cpus();
  return {
    system: `${type()} ${release()}`,
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryBytes: totalmem(),
    load: loadavg()[0] ?? NaN,
  };
}

const ROOT = new URL('../../', import.meta.url);
const COMPARED = ['ajv', 'fastify', 'genson-js', 'jsonld', 'undici'] as const;

/** The commit, with `-dirty` if files differ from it, or `unknown` outside of a clone. */
export function thisCommit(): string {
  try {
    const described = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    return execFileSync('git', described, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

/** Returns the versions of Node.js, of this package and of the libraries that it is compared with. */
export function versions(): Readonly<Record<string, string>> {
  const compared = COMPARED.map((name) => [name, versionIn(`node_modules/${name}/`)] as const);
  return Object.fromEntries([['node', process.version], ['gateway', versionIn('')], ...compared]);
}

function versionIn(folder: string): string {
  const text = readFileSync(new URL(`${folder}package.json`, ROOT), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
