import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './project.js';

/** An instruction of a Dockerfile, with the user and folder that apply to it. */
interface Instruction {
  /** `RUN`, `CMD` … */
  readonly name: string;
  readonly text: string;
  readonly user: string;
  /** Absolute. */
  readonly folder: string;
}

/** A COPY, from the build context or from the stage named by `from`. */
export interface Copy {
  readonly from?: string;
  readonly sources: readonly string[];
  /** Absolute: the copied file, or the folder that the content was copied into. */
  readonly targets: readonly string[];
  /** The octal mode of everything copied; without it, each file keeps its own. */
  readonly mode?: string;
}

/** A stage of a Dockerfile; the last one is the image. */
export interface Stage {
  /** The image it starts from. */
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
  readonly copies: readonly Copy[];
}

/** Reads a Dockerfile of this project, as far as needed; variables are not replaced. */
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
    // As in Docker: a file is copied into a target with a final slash, and the content of a folder
    // into the target itself.
    posix.resolve(folder, target.endsWith('/') && isFile(source) ? target + posix.basename(source) : target),
  );
  return {
    ...(from === undefined ? {} : { from }),
    sources,
    targets,
    ...(mode === undefined ? {} : { mode }),
  };
}

/** By its name, because files made by a stage do not exist on this machine. */
function isFile(source: string): boolean {
  return /\.[a-z]+$/.test(source) || source.endsWith('/bin/node');
}
