import type { Command, Option } from 'commander';

/**
 * Moves options from before the name of a command to behind it, where the command reads them: `--gateway URL purges list`
 * becomes `purges list --gateway URL`. Without the name of a command, they are left out, so that the error or the help is about
 * that name. The words stay as they are if one of them could mean something else.
 */
export function withOptionsBehindCommand(program: Command, words: readonly string[]): readonly string[] {
  const path: string[] = [];
  const moved: string[] = [];
  let command = program;
  let rest = words;
  while (command.commands.length > 0) {
    const [word] = rest;
    const named = command.commands.find((one) => one.name() === word);
    if (named !== undefined) {
      path.push(named.name());
      command = named;
      rest = rest.slice(1);
      continue;
    }
    const isNoOption = word === undefined || !word.startsWith('-');
    if (isNoOption || word === '--help' || word === '-h') return [...path, ...rest];
    const option = optionWords(program, word, rest);
    if (option === undefined) return words;
    moved.push(...option);
    rest = rest.slice(option.length);
  }
  return [...path, ...moved, ...rest];
}

/** Returns the words of the option at the beginning: its flag, and its value if it takes one. */
function optionWords(program: Command, word: string, rest: readonly string[]): readonly string[] | undefined {
  const [flag = ''] = word.split('=', 1);
  const option = optionsBelow(program).find(({ short, long }) => flag === short || flag === long);
  // One that takes any number of values does not say where they end.
  if (option === undefined || option.variadic) return undefined;
  if (!option.required || word.includes('=')) return [word];
  return rest.length > 1 ? rest.slice(0, 2) : undefined;
}

function optionsBelow(command: Command): readonly Option[] {
  return command.commands.flatMap((one) => [...one.options, ...optionsBelow(one)]);
}
