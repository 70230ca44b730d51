import { FakeElement } from './fake-dom.js';

const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article details dialog div dl figcaption figure fieldset footer form h1 h2 h3 h4 header legend li main nav ol p pre ' +
    'section summary table tbody thead tr ul'
  ).split(' '),
);

/**
 * What a part of a page says, a line for each block in its order: cells apart, links with where they lead, buttons in angle
 * brackets (`<Go waits>` where it is disabled), values of fields in braces, and chips with their tone.
 */
export function outlineOf(root: FakeElement): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const flush = () => {
    const said = line.replaceAll(/\s+/g, ' ').trim();
    if (said !== '') lines.push(said);
    line = '';
  };
  const read = (element: FakeElement) => {
    const tag = element.localName;
    if (element.attributes.get('aria-hidden') === 'true' || tag === 'datalist') return;
    const own = controlOf(element);
    if (own !== undefined) {
      line += own;
      return;
    }
    const isBlock = BLOCKS.has(tag);
    if (isBlock) flush();
    if (tag === 'pre') line += ' ';
    for (const child of element.childNodes)
      if (child instanceof FakeElement) read(child);
      else line += child.textContent;
    if (isBlock) flush();
    else line += AFTER[tag] ?? '';
    if (tag === 'tr' && lines.length > 0) lines.push(lines.pop()?.replace(/ \|$/, '') ?? '');
  };
  read(root);
  flush();
  return lines;
}

const AFTER: Readonly<Record<string, string>> = { td: ' | ', th: ' | ', dt: ': ', label: ' ', span: ' ' };

/** How something is written that can be used, or that has a tone; undefined for all else. */
function controlOf(element: FakeElement): string | undefined {
  const { localName, attributes, name } = element;
  const value = wordsOf(element.value ?? attributes.get('value'));
  switch (localName) {
    case 'a':
      return `[${name}](${wordsOf(attributes.get('href'))}) `;
    case 'button':
      return `<${name}${element.isDisabled ? ' waits' : ''}> `;
    case 'input':
      if (typeof element.checked === 'boolean') return element.checked ? '{x} ' : '{ } ';
      return `{${value}}${attributes.get('aria-invalid') === true ? '!' : ''} `;
    case 'select':
    case 'textarea':
      return `{${value}} `;
    case 'svg':
    case 'progress':
      return ` (${localName}${localName === 'progress' ? ` ${value}/${wordsOf(attributes.get('max'))}` : ''}) `;
    default: {
      const [, tone] = /^chip (\w+)$/.exec(wordsOf(attributes.get('class'))) ?? [];
      return tone === undefined ? undefined : `${name}!${tone} `;
    }
  }
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
