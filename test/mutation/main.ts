/**
 * Makes small harmful changes to sources, one at a time and in a copy of the project. Reports the changes that neither the
 * nearest tests nor the compiler notice.
 *
 *     npm run mutate -- sidecar/purge/requests sidecar/shared/config/load.ts --count 40 --seed 7 --tests 5
 *     npm run mutate -- --changes changes.json --tests 8
 *
 * The second form makes the changes listed in a file: `[{"path", "find", "replace"}]`.
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { readSources } from '../support/source-imports.js';
import { generatedCandidates, writtenCandidates, type Candidate } from './candidates.js';
import { applyMutant } from './mutants.js';
import { nearestTests } from './nearest-tests.js';
import { copyProject, type ProjectCopy } from './project-copy.js';
import { createTypeCheck, type TypeCheck } from './type-check.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changes: { type: 'string' },
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '5' },
  },
});
if (positionals.length === 0 && values.changes === undefined) {
  console.error(
    'Name folders or files: npm run mutate -- sidecar/purge/requests --count 40 --seed 7 --tests 5',
  );
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
const sources = ['sidecar', 'kong-plugins', 'console', 'test', 'bench'].flatMap(readSources);
const chosen =
  values.changes === undefined
    ? await sample(positionals, Number(values.count), Number(values.seed))
    : await writtenCandidates(values.changes).catch((error: unknown) => {
        console.error(error instanceof Error ? error.message : error);
        process.exit(2);
      });
process.exitCode = await mutate(chosen, Number(values.tests));

/** Returns a random sample of all changes to the files of these rooms. */
async function sample(rooms: readonly string[], count: number, seed: number): Promise<Candidate[]> {
  const paths = sources
    .map(({ path }) => path)
    .filter((path) => isIn(path, rooms) && !path.startsWith('test/'));
  const all = await generatedCandidates(paths);
  console.log(
    `${Math.min(count, all.length)} of ${all.length} changes to ${paths.length} files, seed ${seed}`,
  );
  return shuffled(all, seed).slice(0, count);
}

/** @returns the exit code: 1 if a change was not noticed */
async function mutate(chosen: readonly Candidate[], testsMax: number): Promise<number> {
  const copy = await copyProject();
  const survivors: Candidate[] = [];
  const timeOf = createTimer(copy);
  let typeCheck: TypeCheck | undefined;
  for (const [index, candidate] of chosen.entries()) {
    const tests = nearestTests(candidate.path, sources).slice(0, testsMax);
    let noticedBy = await firstToNotice(copy, candidate, tests, timeOf);
    if (noticedBy === undefined) {
      typeCheck ??= createTypeCheck();
      if (typeCheck(candidate.path, applyMutant(candidate.text, candidate.mutant)))
        noticedBy = 'the compiler';
    }
    if (noticedBy === undefined) survivors.push(candidate);
    const unnoticed = tests.length === 0 ? 'NOT NOTICED, since no test imports it' : 'NOT NOTICED';
    console.log(`${index + 1}. ${describe(candidate)}: ${noticedBy ?? unnoticed}`);
  }
  console.log(`\nNoticed ${chosen.length - survivors.length} of ${chosen.length}. Not noticed:`);
  for (const survivor of survivors) console.log(`  ${describe(survivor)}`);
  return survivors.length === 0 ? 0 : 1;
}

/** Returns the first test that fails or does not end under a change; undefined if all pass. */
async function firstToNotice(
  copy: ProjectCopy,
  { path, text, mutant }: Candidate,
  tests: readonly string[],
  timeOf: (test: string) => Promise<number | undefined>,
): Promise<string | undefined> {
  for (const test of tests) {
    const timeMs = await timeOf(test);
    if (timeMs === undefined) continue;
    try {
      await copy.put(path, applyMutant(text, mutant));
    } catch {
      return 'the compiler';
    }
    const result = await copy.run(test, 10_000 + 5 * timeMs);
    await copy.put(path, text);
    if (result !== 'passed') return `${test}${result === 'timed-out' ? ' (out of time)' : ''}`;
  }
  return undefined;
}

/**
 * Returns a function that runs each test once without a change. It returns the duration in
 * milliseconds, or undefined if the test fails.
 */
function createTimer(copy: ProjectCopy): (test: string) => Promise<number | undefined> {
  const times = new Map<string, number | undefined>();
  return async (test) => {
    if (!times.has(test)) {
      const startedMs = performance.now();
      const result = await copy.run(test, 300_000);
      if (result !== 'passed') console.log(`${test} ${result} without a change, and is left out.`);
      times.set(test, result === 'passed' ? performance.now() - startedMs : undefined);
    }
    return times.get(test);
  };
}

function isIn(path: string, rooms: readonly string[]): boolean {
  return rooms.some((room) => path === room || path.startsWith(`${room.replace(/\/$/, '')}/`));
}

function describe({ path, text, mutant }: Candidate): string {
  const line = text.slice(0, mutant.start).split('\n').length;
  const shorten = (code: string) => code.replaceAll(/\s+/g, ' ').slice(0, 60);
  return `${path}:${line} ${mutant.kind}: ${shorten(text.slice(mutant.start, mutant.end))} → ${shorten(mutant.replacement)}`;
}

/** Returns the items in an order determined by the seed (mulberry32). */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
