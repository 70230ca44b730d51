import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scanFindings } from './growth/findings.js';
import { modelReads } from './growth/models.js';
import type { GrowthBench } from './growth/part.js';
import { purgeArchives, purgeTimes } from './growth/purges.js';
import type { Bench, Table } from './support/bench.js';
import { command } from './support/command.js';
import { svgOf, type Plot } from './support/plot.js';
import { digits } from './support/print.js';

const PARTS: Readonly<Record<string, GrowthBench>> = {
  purges: purgeTimes,
  archives: purgeArchives,
  models: modelReads,
  findings: scanFindings,
};

/** How time and memory grow, as tables and, with `--svg FOLDER`, as plots. */
export const growth: Bench = {
  name: 'growth',
  async run(options) {
    const plots: Plot[] = [];
    for (const [name, part] of Object.entries(PARTS)) {
      if (!name.includes(options.only)) continue;
      const made = await part({ ...options, log: (text) => options.log(`${name}, ${text}`) });
      plots.push(...made);
      for (const plot of made) await draw(plot);
    }
    return { tables: plots.map(tableOf), targets: [], data: { plots } };
  },
};

async function draw(plot: Plot): Promise<void> {
  if (command.svg === undefined) return;
  await mkdir(command.svg, { recursive: true });
  await writeFile(join(command.svg, `growth-${plot.name}.svg`), svgOf(plot));
}

function tableOf({ title, x, y, curves }: Plot): Table {
  const values = [...new Set(curves.flatMap(({ points }) => points.map(([value]) => value)))];
  return {
    title: `${title}, ${y} by ${x}`,
    columns: ['', ...values.map((value) => value.toLocaleString('en'))],
    rows: curves.map(({ name, points }) => [
      name,
      ...values.map((value) => digits(points.find(([own]) => own === value)?.[1] ?? NaN)),
    ]),
  };
}
