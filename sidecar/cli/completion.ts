import type { Command, Option } from 'commander';
import { readContexts } from './gateway-contexts.js';
import { CliError } from './exit-codes.js';

/**
 * Scripts that get completions from the program itself, by passing it the words up to the cursor. The zsh script can be
 * sourced, or saved as `_ngsi-ld-gateway` in a folder of `fpath`, where zsh runs it at the first completion.
 */
const SCRIPTS = {
  bash: `_ngsi_ld_gateway() {
  local IFS=$'\\n'
  COMPREPLY=($(ngsi-ld-gateway complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _ngsi_ld_gateway ngsi-ld-gateway`,
  zsh: `#compdef ngsi-ld-gateway
_ngsi_ld_gateway() {
  local -a found
  found=(\${(f)"$(ngsi-ld-gateway complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = _ngsi-ld-gateway ]; then _ngsi_ld_gateway; else compdef _ngsi_ld_gateway ngsi-ld-gateway; fi`,
  fish: `function __ngsi_ld_gateway
  set -l words (commandline -opc) (commandline -ct)
  set -l found (ngsi-ld-gateway complete -- $words[2..] 2>/dev/null)
  if test -n "$found"; printf '%s\\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c ngsi-ld-gateway -f -a '(__ngsi_ld_gateway)'`,
} as const;

export const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

/** Returns the completion script for a shell. */
export function completionScript(shell: keyof typeof SCRIPTS): string {
  return SCRIPTS[shell];
}

/**
 * Returns the possible completions of the last word: commands, options, or values of options. Empty where a file name or free
 * text is expected.
 *
 * @param words without the program; the last one is being typed, and may be empty
 */
export function completionsOf(
  program: Command,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  // `--option=value` is one word, except in bash, where the `=` is a word of its own.
  const [, name, value = ''] = /^(--[^=]+)=(.*)$/s.exec(words.at(-1) ?? '') ?? [];
  if (name !== undefined)
    return completionsOf(program, [...words.slice(0, -1), name, value], env).map((one) => `${name}=${one}`);
  const typed = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  let command = program;
  let awaiting: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (word === '=') continue;
    if (awaiting === undefined) command = command.commands.find((one) => one.name() === word) ?? command;
    const option = command.options.find(({ long, short }) => word === long || word === short);
    awaiting = awaiting === undefined && option?.required === true ? option : undefined;
  }
  return candidatesOf(command, awaiting, typed, env).filter((one) => one.startsWith(typed));
}

function candidatesOf(
  command: Command,
  awaiting: Option | undefined,
  typed: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (awaiting !== undefined) return awaiting.argChoices ?? [];
  if (typed.startsWith('-')) return [...command.options.flatMap(({ long }) => long ?? []), '--help'];
  if (command.commands.length > 0)
    return command
      .createHelp()
      .visibleCommands(command)
      .map((one) => one.name());
  if (['use-context', 'delete-context'].includes(command.name())) return namesOfContexts(env);
  return command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
}

function namesOfContexts(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  try {
    return Object.keys(readContexts(env).contexts);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
