import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { settings, type Setting } from '../../sidecar/shared/config/settings.js';
import { PURGE_OPTIONS, type PurgeOption } from '../../sidecar/shared/purge-options.js';
import { errorTypes } from '../../sidecar/shared/problem.js';
import { ROOT } from '../support/project.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** All sources below the folders. */
function sources(...folders: readonly string[]): string {
  const texts = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(join(folder, name))),
  );
  return texts.join('\n');
}

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

const rows = [
  ...read('docs/config.md').matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$/gm),
].map(([, name = '', fallback = '', values = '', meaning = '']) => ({ name, fallback, values, meaning }));
const all = Object.entries<Setting<unknown>>(settings);

it('docs/config.md lists exactly the settings, in their order, each with its default and a meaning', () => {
  assert.deepEqual(
    rows.map(({ name, fallback }) => [name, fallback]),
    all.map(([name, setting]) => [name, setting.default === undefined ? 'unset' : `\`${setting.default}\``]),
  );
  for (const { meaning } of rows) assert.match(meaning, /\w{3,} \w+/);
});

it('docs/config.md states the ranges and choices that the gateway enforces', () => {
  for (const [name, { parse }] of all) {
    const values = rows.find((row) => row.name === name)?.values ?? '';
    const [, least, most] = /^(\d+) to (\d+)$/.exec(values) ?? [];
    if (least !== undefined && most !== undefined) {
      assert.equal(parse(least), Number(least), name);
      assert.equal(parse(most), Number(most), name);
      assert.throws(() => parse(String(Number(most) + 1)), name);
      assert.throws(() => parse(String(Number(least) - 1)), name);
    } else if (/^`[^`]+`(?:, `[^`]+`)+$/.test(values)) {
      for (const [, choice = ''] of values.matchAll(/`([^`]+)`/g))
        assert.equal(String(parse(choice)), choice, name);
      assert.throws(() => parse('something else'), name);
    } else {
      assert.match(values, /\w/, name);
    }
  }
});

it('docs/purges.md has exactly the table of purge options', () => {
  const mark = (isThere: boolean) => (isThere ? 'yes' : '');
  const code = (text: string | undefined) => (text === undefined ? '' : `\`${text}\``);
  const rows = Object.entries<PurgeOption>(PURGE_OPTIONS).map(([name, option]) => {
    const { type, unit, max: most, allowedIn: places, flag, policy, meaning } = option;
    const count = `${most === undefined ? 'from 1' : `1 to ${most}`}, ${unit ?? ''}`;
    const values = type === 'count' ? count : type === 'flag' ? '`true`, `false`' : type.map(code).join(', ');
    const given = (['query', 'body', 'change', 'retention'] as const).map((place) =>
      mark(places.includes(place)),
    );
    return [code(name), values, ...given, code(flag), code(policy), meaning];
  });
  const [, table = ''] = /^## Options\n[^]*?\n\|(?:---\|)+\n([^]*?)\n\n/m.exec(read('docs/purges.md')) ?? [];
  assert.equal(table, rows.map((row) => `| ${row.join(' | ')} |`).join('\n'));
});

const page = read('docs/errors.md');

it('docs/errors.md has a heading for each of our problem types that the sources use, and for no other', () => {
  const used = sources('sidecar', 'kong-plugins').matchAll(
    /(?:\bproblemTypeUri\(\s*'|urn:ngsi-ld-gateway:problem:|\$\{TYPE\})([a-z][a-z0-9-]*)/g,
  );
  const headings = page.matchAll(/^### (.+)$/gm);
  assert.deepEqual(
    sorted(Array.from(headings, ([, name = '']) => name)),
    sorted(Array.from(used, ([, name = '']) => name)),
  );
});

it('docs/errors.md states a status and a meaning for each type', () => {
  const sections = page.split(/^### /m).slice(1);
  assert.ok(sections.length > 0);
  for (const section of sections) {
    assert.match(section, /^[a-z-]+\n\n\*\*(?:[45]\d\d\b|The broker's own 4xx)[^]{40}/, section);
  }
});

it('docs/errors.md mentions each type of the standard that the gateway itself sends', () => {
  const text = sources('sidecar/http', 'sidecar/purge');
  const used = [...text.matchAll(/errorTypes(?:\.|\[')([a-zA-Z]+)/g)];
  assert.ok(used.length > 0);
  for (const [, key = ''] of used) {
    const name = errorTypes[key as keyof typeof errorTypes].split('/').at(-1) ?? '';
    assert.ok(page.includes(`\`${name}\``), name);
  }
});

const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
);

it('docs/security.md names only tests that exist', () => {
  const named = [...read('docs/security.md').matchAll(/`((?:unit|integration)\/[^`]+)`/g)];
  assert.ok(named.length > 20, `${named.length} tests are named`);
  for (const [, pattern = ''] of named) {
    const expected = new RegExp(`^${pattern.replaceAll('*', '[^/]*')}\\.test\\.ts$`);
    assert.ok(
      files.some((file) => expected.test(file)),
      pattern,
    );
  }
});

for (const page of ['docs/README.md', 'docs/glossary.md']) {
  it(`${page} names paths that exist`, () => {
    const named = [
      ...read(page).matchAll(/`((?:sidecar|kong-plugins|docs)\/[^`]*|README\.md|kong\.yml|\.env\.example)`/g),
    ];
    assert.ok(named.length > 20, `${named.length} paths are named`);
    for (const [, path = ''] of named) assert.ok(existsSync(join(ROOT, path)), path);
  });
}

it('the index links to every page, and every page links back to the index', () => {
  const index = read('docs/README.md');
  for (const name of readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'))) {
    if (name === 'README.md') continue;
    assert.ok(index.includes(`](${name})`), name);
    assert.match(read(`docs/${name}`), /\]\(README\.md\)/, name);
  }
});

const pages = [
  'README.md',
  ...['docs', 'docs/operations', 'docs/adr'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((name) => name.endsWith('.md'));

it('README.md begins with the two commands', () => {
  const readme = read('README.md');
  const commands = ['npm ci && npm start', 'npm ci && npm test'].map((command) => readme.indexOf(command));
  for (const at of commands) assert.ok(at > 0 && at < 2000, `found at ${at}`);
});

/** The anchor that code hosts and the site make of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

for (const page of pages) {
  it(`${page} has only links to files and headings that exist`, () => {
    for (const [, path = '', anchor] of read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      const target = path === '' ? page : join(dirname(page), path);
      assert.ok(existsSync(join(ROOT, target)), target);
      if (anchor === undefined || !target.endsWith('.md')) continue;
      const headings = Array.from(read(target).matchAll(/^#+ (.+)$/gm), ([, text = '']) => anchorOf(text));
      assert.ok(headings.includes(anchor), `${target}#${anchor}`);
    }
  });
}
