import type { BenchResult, Table, Target } from './bench.js';

/** Formats the tables and targets of a bench for people. */
export function textOf({ tables, targets }: Pick<BenchResult, 'tables' | 'targets'>): string {
  const all = targets.length === 0 ? tables : [...tables, targetTable(targets)];
  return all.map(textOfTable).join('\n\n');
}

/** Formats a number with three significant digits, or with all digits before the decimal point. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function targetTable(targets: readonly Target[]): Table {
  return {
    title: 'Targets',
    columns: ['target', 'wanted', 'median', 'min', 'max', ''],
    rows: targets.map(({ name, wanted, measured, spread, reached }) => [
      name,
      wanted,
      digits(measured),
      spread === undefined ? '' : digits(spread.min),
      spread === undefined ? '' : digits(spread.max),
      reached ? 'reached' : 'MISSED',
    ]),
  };
}

/** The first column is text and aligned left, the others are aligned right. */
function textOfTable({ title, columns, rows }: Table): string {
  const lines = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const text = lines.map((line) =>
    widths
      .map((width, at) => (at === 0 ? (line[at] ?? '').padEnd(width) : (line[at] ?? '').padStart(width)))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, text[0], rule, ...text.slice(1)].join('\n');
}
