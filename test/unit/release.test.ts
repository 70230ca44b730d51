import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../support/project.js';

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly env?: object;
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly env?: object;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

const WORKFLOWS = join(ROOT, '.github/workflows');
const texts = new Map(
  readdirSync(WORKFLOWS).map((name) => [name, readFileSync(join(WORKFLOWS, name), 'utf8')]),
);
const jobsOf = (name: string) =>
  (parse(texts.get(name) ?? '') as { jobs: Readonly<Record<string, Job>> }).jobs;

function notesOf(version: string) {
  const program = join(ROOT, 'scripts/release-notes.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, version], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

it('the notes of a release are the section of its version in CHANGELOG.md, and an unknown version has none', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const notes = notesOf(`v${version}`);
  assert.equal(notes.status, 0);
  assert.ok(notes.stdout.trim() !== '' && !/^## /m.test(notes.stdout));
  assert.match(notesOf('Unreleased').stdout, /^### Added$/m);
  for (const other of ['v99.0.0', '', 'x']) {
    const { status, stderr } = notesOf(other);
    assert.equal(status, 1, other);
    assert.match(stderr, /^No release: package\.json has version /);
  }
});

it('every action of the workflows is pinned by digest, and every job has a time limit', () => {
  for (const [name, text] of texts) {
    for (const [, action = ''] of text.matchAll(/uses: (\S+)/g)) assert.match(action, /@[0-9a-f]{40}$/, name);
    for (const [job, { 'timeout-minutes': minutes }] of Object.entries(jobsOf(name)))
      assert.ok(minutes !== undefined, `${name}: ${job}`);
  }
});

it('no step of the workflows in which packages run code has a token, or finds one that a checkout left', () => {
  for (const [name, text] of texts) {
    assert.doesNotMatch(text.split(/^jobs:$/m)[0] ?? '', /secrets\./, name);
    for (const { env, steps } of Object.values(jobsOf(name))) {
      assert.equal(env, undefined, name);
      for (const { uses = '', run = '', env: own, with: options } of steps) {
        if (uses.startsWith('actions/checkout@')) assert.equal(options?.['persist-credentials'], false, name);
        if (JSON.stringify(own ?? {}).includes('secrets.'))
          assert.doesNotMatch(run, /\b(?:np[mx]|node)\b/, name);
      }
      const logins = steps.findIndex(({ run = '' }) => run.includes('docker login'));
      const packages = steps.findLastIndex(({ run = '' }) => /\bnp[mx]\b/.test(run));
      assert.ok(logins === -1 || logins > packages, `${name}: a login stays in a file`);
    }
  }
});

it('CI builds everything that a release builds, so that a release does not fail at it', () => {
  const lines = (job: Job | undefined) =>
    (job?.steps ?? []).flatMap(({ run = '' }) => run.split(/\n| && /).map((line) => line.trim()));
  const ci = Object.values(jobsOf('ci.yml')).flatMap(lines);
  const made = lines(jobsOf('release.yml')['publish']).filter((line) => /^npm (?!ci)/.test(line));
  assert.ok(made.length >= 3);
  for (const line of made) assert.ok(ci.includes(line), line);
});
