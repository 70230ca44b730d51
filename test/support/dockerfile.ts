import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './project.js';

/** One instruction of a Dockerfile, with what holds when it is carried out. */
interface Instruction {
  /** `RUN`, `CMD` … */
  readonly name: string;
  readonly text: string;
  readonly user: string;
  /** Absolute. */
  readonly folder: string;
}

/** One COPY: from the builder's context, or from the stage that `from` names. */
export interface Copy {
  readonly from?: string;
  readonly sources: readonly string[];
  /** Absolute: of the file, or of the folder whose content was copied. */
  readonly targets: readonly string[];
  /** What all that was copied is given, octal; without it, it keeps its own. */
  readonly mode?: string;
}

/** A stage of a Dockerfile; the last one is the image. */
export interface Stage {
  /** What it is built on. */
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
  readonly copies: readonly Copy[];
}

/** Reads a Dockerfile of this project, as far as they go: variables are not replaced. */
export function readDockerfile(name: string): readonly Stage[] {
  const text = readFileSync(join(ROOT, name), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '');
  return text
    .split(/^FROM /m)
    .slice(1)
    .map(readStage);
}

function readStage(text: string): Stage {
  const [from = '', ...lines] = text.split('\n').filter((line) => line !== '');
  const [, base = '', name = ''] = /^(\S+)(?: AS (\S+))?$/.exec(from) ?? [];
  const instructions: Instruction[] = [];
  let [user, folder] = ['root', '/'];
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === 'USER') user = rest;
    if (instruction === 'WORKDIR') folder = rest;
    instructions.push({ name: instruction, text: rest, user, folder });
  }
  const copies = instructions.filter((instruction) => instruction.name === 'COPY').map(readCopy);
  return { base, name, instructions, copies };
}

function readCopy({ text, folder }: Instruction): Copy {
  const words = text.split(' ');
  const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.split('=')[1];
  const [from, mode] = [option('from'), option('chmod')];
  const paths = words.filter((word) => !word.startsWith('--'));
  const [sources, target = ''] = [paths.slice(0, -1), paths.at(-1)];
  const targets = sources.map((source) =>
    // As Docker does: a file goes into a target that ends with a slash, the content of a folder into the target itself.
    posix.resolve(folder, target.endsWith('/') && isFile(source) ? target + posix.basename(source) : target),
  );
  return {
    ...(from === undefined ? {} : { from }),
    sources,
    targets,
    ...(mode === undefined ? {} : { mode }),
  };
}

/** By its name: what a stage makes is not on this machine. */
function isFile(source: string): boolean {
  return /\.[a-z]+$/.test(source) || source.endsWith('/bin/node');
}
