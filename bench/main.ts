/**
 * Runs benches: `npm run bench -- [NAME …] [--quick | --large] [--rounds N] [--only TEXT] [--json FILE]`; see README.md in this
 * folder.
 */
import { writeFile } from 'node:fs/promises';
import { archived } from './archived.js';
import { attacks } from './attacks.js';
import { databases } from './databases.js';
import { entityPurge } from './entity-purge.js';
import { growth } from './growth.js';
import { importing } from './import.js';
import { jobs } from './jobs.js';
import { memory } from './memory.js';
import { passThrough } from './pass-through.js';
import { proofs } from './proofs.js';
import { shapes } from './shapes.js';
import { scans } from './scans.js';
import { schemaService } from './schema-service.js';
import { search } from './search.js';
import { sidecars } from './sidecars.js';
import type { Bench, BenchResult } from './support/bench.js';
import { command, sized } from './support/command.js';
import { thisCommit, thisMachine, versions } from './support/machine.js';
import { textOf } from './support/print.js';
import { temporalMemory, temporalPurge } from './temporal-purge.js';
import { workbench } from './workbench.js';
import { writeChecks } from './write-checks.js';

const QUICK: readonly Bench[] = [
  entityPurge,
  proofs,
  shapes,
  memory,
  archived,
  scans,
  jobs,
  temporalPurge,
  passThrough,
  writeChecks,
  schemaService,
  importing,
  search,
  workbench,
];
const DEFAULT: readonly Bench[] = [...QUICK, temporalMemory, databases, sidecars];
/** The last two take long, and run only if they are named. */
const ALL: readonly Bench[] = [...DEFAULT, growth, attacks];

const { size, names, rounds, only } = command;
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');
const chosen = names.length === 0 ? sized({ quick: QUICK, default: DEFAULT }) : names.map(benchNamed);

const run = {
  measuredAt: new Date().toISOString(),
  commit: thisCommit(),
  versions: versions(),
  size,
  rounds,
};
const machine = thisMachine();
const { cpu, cores, system, load } = machine;
console.log(`${cpu}, ${cores} cores, ${system}, Node ${run.versions['node']}, load ${load.toFixed(1)}`);
console.log(`Commit ${run.commit}, size ${size}\n`);
type Measured = Pick<BenchResult, 'targets' | 'data'> & { readonly seconds: number };
const results: Record<string, Measured | { readonly error: string }> = {};
for (const bench of chosen) {
  const { name } = bench;
  const log = (text: string) => console.error(`${name}: ${text}`);
  const startedMs = performance.now();
  try {
    const { tables, targets, data } = await bench.run({ rounds, only, log });
    const seconds = (performance.now() - startedMs) / 1000;
    results[name] = { seconds, targets, data };
    console.log(`${name}, ${seconds.toFixed(0)} s\n\n${textOf({ tables, targets })}\n`);
  } catch (error) {
    // The other benches still run, and their results are written.
    console.error(`${name} failed:`, error);
    results[name] = { error: String(error) };
    process.exitCode = 1;
  }
}

const json = JSON.stringify({ ...run, machine, results });
if (command.json !== undefined) await writeFile(command.json, `${json}\n`);
console.log(json);

function benchNamed(name: string): Bench {
  const bench = ALL.find((each) => each.name === name);
  if (bench !== undefined) return bench;
  throw new Error(`There is no bench ${name}, only ${ALL.map((each) => each.name).join(', ')}`);
}
