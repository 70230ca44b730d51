/** Runs benches: `npm run bench -- [NAME …] [--rounds N] [--only TEXT] [--json FILE]`; see README.md beside this file. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { archived } from './archived.js';
import { attacks } from './attacks.js';
import { databases } from './databases.js';
import { entityPurge } from './entity-purge.js';
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
import { thisMachine } from './support/machine.js';
import { textOf } from './support/print.js';
import { temporalMemory, temporalPurge } from './temporal-purge.js';
import { workbench } from './workbench.js';
import { writeChecks } from './write-checks.js';

const BENCHES: readonly Bench[] = [
  entityPurge,
  proofs,
  shapes,
  memory,
  archived,
  scans,
  jobs,
  temporalPurge,
  temporalMemory,
  passThrough,
  writeChecks,
  schemaService,
  databases,
  sidecars,
  importing,
  search,
  workbench,
  attacks,
];
const ROUNDS = '5';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: ROUNDS },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const chosen = positionals.length === 0 ? BENCHES : positionals.map(benchNamed);
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');

const machine = thisMachine();
console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}\n`);
const results: Record<string, Pick<BenchResult, 'targets' | 'data'>> = {};
for (const bench of chosen) {
  const { name } = bench;
  const say = (text: string) => console.error(`${name}: ${text}`);
  const result = await bench.run({ rounds, only: values.only, say });
  results[name] = { targets: result.targets, data: result.data };
  console.log(`${textOf(result)}\n`);
}

const json = JSON.stringify({ measuredAt: new Date().toISOString(), machine, rounds, results });
if (values.json !== undefined) await writeFile(values.json, `${json}\n`);
console.log(json);

function benchNamed(name: string): Bench {
  const bench = BENCHES.find((each) => each.name === name);
  if (bench !== undefined) return bench;
  throw new Error(`There is no bench ${name}, only ${BENCHES.map((each) => each.name).join(', ')}`);
}
