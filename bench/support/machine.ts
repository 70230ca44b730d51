import { cpus, release, totalmem, type } from 'node:os';

/** What the numbers were measured on. */
export interface Machine {
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly node: string;
}

export function thisMachine(): Machine {
  const cores = cpus();
  return {
    system: `${type()} ${release()}`,
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryBytes: totalmem(),
    node: process.version,
  };
}
