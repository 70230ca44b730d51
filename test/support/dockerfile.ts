import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './project.js';

/** The files and folders that a Dockerfile of this project copies from the builder's context, stage by stage. */
export function copiedByStage(name: string): readonly (readonly string[])[] {
  const [, ...stages] = readFileSync(join(ROOT, name), 'utf8').split(/^FROM /m);
  return stages.map((stage) =>
    [...stage.matchAll(/^COPY (?!.*--from=)(.+)$/gm)].flatMap(([, words = '']) =>
      words
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    ),
  );
}
