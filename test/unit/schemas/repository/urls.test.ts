import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RepositoryUrls, storableUri, targetOf } from '../../../../sidecar/schemas/repository/urls.js';

const BASE = 'https://models.example/city';

function urlsOf(files: readonly string[], located: Readonly<Record<string, string>>) {
  return new RepositoryUrls(
    new Set(files),
    Object.entries(located).map(([path, url]) => ({ path, url })),
  );
}

describe('the URLs of a repository', () => {
  it('a file is published where most of the $ids say, with its name encoded', () => {
    const files = ['Lamp/schema.json', 'Bench/schema.json', 'Bus/schema.json', 'a b/c#d.json'];
    const urls = urlsOf(files, {
      'Bus/schema.json': 'https://mistake.example/Bus/schema.json',
      'Lamp/schema.json': `${BASE}/Lamp/schema.json`,
      'Bench/schema.json': `${BASE}/Bench/schema.json`,
    });
    assert.equal(urls.publishedUrl('a b/c#d.json'), `${BASE}/a%20b/c%23d.json`);
    assert.deepEqual(urls.filesAt(`${BASE}/a%20b/c%23d.json`), ['a b/c#d.json']);
    assert.deepEqual(urls.filesAt(`${BASE}/none.json`), []);
    assert.deepEqual(urls.repositoryOf('Lamp/schema.json'), { folder: '', name: 'city' });
    assert.equal(urlsOf(files, {}).publishedUrl('Lamp/schema.json'), undefined);
    assert.equal(urlsOf(files, {}).repositoryOf('Lamp/schema.json'), undefined);
  });

  for (const [between, isFound] of [
    ['', true],
    ['main/', true],
    ['blob/main/', true],
    ['raw/refs/main/', false],
  ] as const) {
    it(`a URL of a code host is ${isFound ? '' : 'not '}understood with "${between}" after the name of the repository`, () => {
      const urls = urlsOf(['Lamp/schema.json', 'common.json'], {
        'Lamp/schema.json': `${BASE}/Lamp/schema.json`,
      });
      for (const name of ['city', 'City'])
        assert.deepEqual(
          urls.filesAt(`https://code.example/someone/${name}/${between}common.json`),
          isFound ? ['common.json'] : [],
        );
    });
  }
});

describe('the URL of a file on a code host', () => {
  it('the URL of a file on a code host means the file at its path, not in a copy of an earlier release', () => {
    const own = 'checks/thing.json';
    const url = 'https://raw.githubusercontent.com/someone/city/main/checks/thing.json';
    for (const copy of ['releases/v1/checks/thing.json', 'a/checks/thing.json'])
      for (const paths of [
        [own, copy],
        [copy, own],
      ]) {
        const located = paths.map((path) => [path, url] as const);
        const urls = urlsOf(paths, Object.fromEntries(located));
        assert.deepEqual(urls.filesAt(url), [own]);
      }
  });
});

describe('the URLs under which documents are stored', () => {
  for (const [text, uri] of [
    ['https://a.example/x.json', 'https://a.example/x.json'],
    ['https://a.example/x.json#/definitions', 'https://a.example/x.json'],
    ['http://a.example/x', 'http://a.example/x'],
    ['urn:x:y', 'urn:x:y'],
    ['HTTPS://A.example/x', 'https://a.example/x'],
    ['ftp://a.example/x', undefined],
    ['file:///etc/x.json', undefined],
    ['x.json', undefined],
    ['https://user@a.example/x', undefined],
    ['https://:secret@a.example/x', undefined],
    ['https://user:secret@a.example/x', undefined],
  ] as const) {
    it(`the URL under which a document is stored is ${uri ?? 'none'} for ${text}`, () => {
      assert.equal(storableUri(text), uri);
    });
  }

  it('a name within a document is relative to the $ids around it, from the outermost', () => {
    const at = 'https://a.example/root/x.json';
    const target = (name: string, ...within: readonly string[]) => targetOf({ target: name, within }, at);
    assert.equal(target('y.json'), 'https://a.example/root/y.json');
    assert.equal(target('y.json', 'in/', 'deeper/'), 'https://a.example/root/in/deeper/y.json');
    assert.equal(target('../y.json', 'in/z.json'), 'https://a.example/root/y.json');
    assert.equal(target('https://b.example/y.json', 'in/'), 'https://b.example/y.json');
  });
});
