import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../../support/project.js';
import { writtenCandidates, type WrittenChange } from '../../mutation/candidates.js';
import { applyMutant } from '../../mutation/mutants.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder();

const path = 'test/mutation/mutants.ts';
const candidatesOf = async (changes: readonly WrittenChange[]) => {
  const file = join(folder, 'changes.json');
  await writeFile(file, JSON.stringify(changes));
  return writtenCandidates(file);
};

it('a written change replaces exactly the text that it names', async () => {
  const find = 'export function applyMutant(';
  const [candidate] = await candidatesOf([{ path, find, replace: 'function hidden(' }]);
  assert.ok(candidate);
  const text = await readFile(join(ROOT, path), 'utf8');
  assert.equal(applyMutant(candidate.text, candidate.mutant), text.replace(find, 'function hidden('));
});

it('a written change is refused with the name of its file if its text is missing, empty or ambiguous', async () => {
  for (const find of ['nothing of the kind', '', 'ts.isBinaryExpression'])
    await assert.rejects(
      candidatesOf([{ path, find, replace: 'x' }]),
      new RegExp(`${path} must hold exactly once`),
    );
});
