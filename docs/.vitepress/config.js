import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const root = join(import.meta.dirname, '../..');

/** The pages of the site are these Markdown files of the repository, as they are. */
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'docs/'];

const isPage = (/** @type {string} */ path) =>
  path.endsWith('.md') &&
  PAGES.some((page) => path === page || (page.endsWith('/') && path.startsWith(page)));

/** Where links to other files of the repository lead, e.g. https://github.com/OWNER/NAME/blob/main. Without it, they are plain text. */
const sourceUrl = process.env['SOURCE_URL']?.replace(/\/$/, '');

/** @param {string} path of a page @returns {string} the same, under the name that web servers show for a folder */
const published = (path) => path.replace(/(^|\/)README\.md$/, '$1index.md');

/** A page or a folder with one. @param {string} path from the root @returns {string | undefined} the path of the page */
function pageAt(path) {
  return [path, join(path, 'README.md')].find((file) => isPage(file) && existsSync(join(root, file)));
}

/** The lists of docs/README.md, each under its heading. */
function sidebar() {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  const groups = index.matchAll(/^## (.+)\n\n((?:(?:-| ) .+\n)+)/gm);
  return Array.from(groups, ([, text, links]) => ({
    text,
    items: Array.from(links.matchAll(/\]\(([^)#]+)\)/g), ([, link]) => {
      const page = pageAt(relative(root, resolve(root, 'docs', link)));
      if (page === undefined) throw new Error(`docs/README.md: ${link} is not a page of the site`);
      const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, page), 'utf8')) ?? [];
      return { text: title, link: `/${published(page).replace(/(?:index)?\.md$/, '')}` };
    }),
  }));
}

/** The anchor of a heading, as GitHub makes it: links in the pages rely on it. @param {string} heading */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Links of the repository as links of the site. @param {import('vitepress').MarkdownRenderer} md */
function adaptLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const folder = dirname(env.relativePath);
    for (const { children } of tokens) {
      let isLink = true;
      for (const token of children ?? []) {
        if (token.type === 'link_open') isLink = adapt(token, folder);
        if (/^link_/.test(token.type) && !isLink) Object.assign(token, { type: 'text', content: '' });
      }
    }
  });
}

/** @returns {boolean} whether it can be a link of the site */
function adapt(token, folder) {
  const href = token.attrGet('href') ?? '';
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return true;
  const [, path, rest] = /^([^?#]*)(.*)$/.exec(href) ?? [];
  const target = relative(root, resolve(root, folder, decodeURI(path)));
  const page = pageAt(target);
  if (page !== undefined) token.attrSet('href', `/${published(page)}${rest}`);
  else if (sourceUrl !== undefined) token.attrSet('href', `${sourceUrl}/${target}${rest}`);
  else return false;
  return true;
}

export default defineConfig({
  title: 'NGSI-LD gateway',
  description:
    'Deletes entities by query, safely, in front of any NGSI-LD context broker; keeps data models and checks entities.',
  srcDir: '..',
  srcExclude: readdirSync(root)
    .filter((name) => statSync(join(root, name)).isDirectory())
    .filter((name) => !PAGES.some((page) => page.startsWith(`${name}/`)))
    .map((name) => `${name}/**`),
  rewrites: (page) => published(page),
  base: process.env['DOCS_BASE'] ?? '/',
  markdown: { config: adaptLinks, anchor: { slugify } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
  },
});
