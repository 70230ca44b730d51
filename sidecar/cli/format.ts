import { stripVTControlCharacters } from 'node:util';

/** Formats numbers, times and rates for people. */

/** `3,000`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** `1 entity`, `3,000 entities`. @param unit in the plural, as purges name it */
export function formatItems(count: number, unit: string): string {
  return `${formatCount(count)} ${count === 1 ? singularOf(unit) : unit}`;
}

function singularOf(unit: string): string {
  return unit.endsWith('ies') ? `${unit.slice(0, -3)}y` : unit.replace(/s$/, '');
}

/** `850 ms`, `1.5 s`, `2 min 5 s`, `3 h 4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `2,000/s`; below ten with one decimal place. */
export function formatRate(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(perSecond)}/s`;
}

/** Escapes line breaks and control characters. A terminal would interpret them, and the text may come from someone else. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The control characters that output may have: line ends, tabs and colours. */
const OWN_CONTROLS = /(\u001b\[[\d;]*m|[\t\n])/;

/** Escapes all other control characters, wherever a text of a broker or a gateway was put into the output unchanged. */
export function withOwnControls(text: string): string {
  const parts = text.split(OWN_CONTROLS);
  return parts.map((part, index) => (index % 2 === 0 ? printable(part) : part)).join('');
}

/** JSON for standard output. {@link printable} changes characters only inside strings, where the escape means the same. */
export function jsonText(document: unknown, indent?: number): string {
  return JSON.stringify(document, undefined, indent).split('\n').map(printable).join('\n');
}

const EAST_ASIAN = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uffe6`;

/** Matches characters that take up two cells of a terminal: emoji, and East Asian ones that are not halfwidth forms. */
const WIDE = new RegExp(
  String.raw`^(?![\uff61-\uffdc])(?:[\p{Emoji_Presentation}${EAST_ASIAN}]|.\ufe0f)`,
  'u',
);

const characters = new Intl.Segmenter();

/** The width of a text on a terminal, where colour codes and combining marks take up no space. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of characters.segment(stripVTControlCharacters(text)))
    width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Aligns rows in columns, each as wide as its widest cell; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)),
      )
      .join('  ')
      .trimEnd(),
  );
}
