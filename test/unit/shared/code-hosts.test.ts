import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileKey, hostedFile, isSameFile, withoutRevision } from '../../../sidecar/shared/code-hosts.js';
import { words } from '../../support/words.js';

for (const url of words(`
    https://acme.github.io/models/Car/schema.json https://acme.github.com/models/Car/schema.json
    https://raw.githubusercontent.com/acme/models/master/Car/schema.json
    https://raw.githubusercontent.com/acme/models/v1.2/Car/schema.json?token=x
    https://raw.githubusercontent.com/acme/models/refs/heads/main/Car/schema.json
    https://raw.githubusercontent.com/acme/models/refs/tags/v1/Car/schema.json
    https://raw.github.com/acme/models/master/Car/schema.json
    https://rawcdn.githack.com/acme/models/0a1b2c3/Car/schema.json
    https://github.com/acme/models/blob/main/Car/schema.json
    https://github.com/acme/models/tree/main/Car/schema.json
    https://github.com/acme/models/raw/refs/heads/main/Car/schema.json
    https://github.com/acme/models/Car/schema.json https://cdn.jsdelivr.net/gh/acme/models@1/Car/schema.json
    https://cdn.jsdelivr.net/gh/acme/models/Car/schema.json
    https://cdn.statically.io/gh/acme/models/main/Car/schema.json
    https://gitlab.com/group/sub/models/-/raw/main/Car/schema.json
    https://git.example.org/group/models/-/blob/main/Car/schema.json
    https://bitbucket.org/acme/models/raw/0a1b2c3/Car/schema.json
    https://codeberg.org/acme/models/raw/branch/main/Car/schema.json
    https://acme.codeberg.page/models/Car/schema.json
  `))
  it(`a file of a repository is recognised in ${url}`, () => {
    const { repository, path } = hostedFile(url) ?? {};
    assert.deepEqual([repository, path], ['models', ['Car', 'schema.json']]);
  });

for (const url of words(`
    https://models.example/models/Car/schema.json https://acme.github.io/Car/schema.json
    https://acme.github.io/index.json https://github.com/acme/models/ https://gist.github.com/acme/0a1b2c3
    https://raw.githubusercontent.com/acme/models/main urn:models:car
  `))
  it(`no file of a repository is recognised in ${url}`, () => {
    assert.equal(hostedFile(url), undefined);
  });

const SAME = words(`
    https://acme.github.io/models/Car/a.json http://acme.github.com/models/Car/a.json
    https://raw.githubusercontent.com/acme/models/master/Car/a.json
    https://raw.githubusercontent.com/Acme/Models/main/Car/a.json
    https://raw.githubusercontent.com/acme/models/refs/heads/master/Car/a.json
    https://raw.githubusercontent.com/acme/models/refs/heads/main/Car/%61.json
    https://github.com/acme/models/blob/main/Car/a.json
    https://www.github.com/acme/models/raw/HEAD/Car/a.json https://github.com/acme/models/Car/a.json
    https://cdn.jsdelivr.net/gh/acme/models/Car/a.json
    https://cdn.jsdelivr.net/gh/acme/models@main/Car/a.json
    https://cdn.statically.io/gh/acme/models/main/Car/a.json
  `);
for (const url of SAME)
  it(`the key of a file on GitHub is the same in ${url}`, () => {
    assert.equal(fileKey(url), fileKey(SAME[0] ?? ''));
  });

it('the key of a file is specific to one revision in one repository of one owner at one host', () => {
  const raw = 'https://raw.githubusercontent.com';
  const keys = [
    SAME[0] ?? '',
    ...words(`
        other/models/main acme/other/main acme/models/develop acme/models/v1 acme/models/0a1b2c3
      `),
  ].map((url) => fileKey(url.includes(':') ? url : `${raw}/${url}/Car/a.json`));
  const others = [
    'https://gitlab.com/acme/models/-/raw/main/Car/a.json',
    'https://codeberg.org/acme/models/raw/branch/main/Car/a.json',
    'https://git.example.org/acme/models/-/blob/main/Car/a.json',
    `${raw}/acme/models/main/Car/A.json`,
    `${raw}/acme/models/main/Car%2Fa.json`,
  ].map(fileKey);
  assert.equal(new Set([...keys, ...others]).size, keys.length + others.length);
  assert.ok(![...keys, ...others].includes(undefined));
  // The two notations of a branch or a tag mean the same.
  const at = (revision: string) => fileKey(`${raw}/acme/models/${revision}/a.json`);
  assert.equal(at('refs/heads/develop'), at('develop'));
  assert.equal(at('refs/tags/v1'), fileKey('https://cdn.jsdelivr.net/gh/acme/models@v1/a.json'));
  assert.notEqual(at('refs/tags/main'), at('main'));
});

for (const url of [
  ...words(`
    https://models.example/models/Car/a.json
    https://raw.githubusercontent.com/acme/models/main/a.json?token=x
    https://github.com:8443/acme/models/blob/main/a.json
    https://user@github.com/acme/models/blob/main/a.json urn:models:car Car/a.json
  `),
  '',
])
  it(`no key of a file is made of ${url === '' ? 'nothing' : url}`, () => {
    assert.equal(fileKey(url), undefined);
  });

it('two URLs name one file in spite of the revision, the owner, and the case of the name of the repository', () => {
  const one = hostedFile('https://acme.github.io/dataModel.HL7/common.json');
  const same = (url: string) => isSameFile(one, hostedFile(url));
  assert.ok(same('https://raw.githubusercontent.com/fork/dataModel.Hl7/main/common.json'));
  assert.ok(!same('https://raw.githubusercontent.com/acme/dataModel.HL7/main/other.json'));
  assert.ok(!same('https://acme.github.io/data-models/common.json'));
  assert.ok(!same('https://models.example/common.json'));
});

it('a revision before a path is not taken for the name of a repository', () => {
  for (const revision of [
    ...words('main master HEAD v1.2 2.0.0 refs/heads/new refs/heads/a/b blob/main raw/new src tree/v1'),
    'f'.repeat(40),
  ])
    assert.deepEqual(withoutRevision(['city', ...revision.split('/')]), ['city'], revision);
  for (const kept of ['city', 'main', 'a/city', 'city/parts'])
    assert.deepEqual(withoutRevision(kept.split('/')), kept.split('/'));
});
