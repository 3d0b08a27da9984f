import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script that completes commands, flags and values of flags in a shell. It is made of the commands themselves. */
export function completionScript(program: Command, shell: Shell): string {
  switch (shell) {
    case 'bash':
      return bashScript(program);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`;
    case 'fish':
      return fishScript(program);
  }
}

function bashScript(program: Command): string {
  const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  const cases = program.commands.map((command) => {
    const pattern = [command.name(), ...command.aliases()].join('|');
    const flags = command.options.flatMap(({ short, long }) => [short ?? '', long ?? '']);
    return `    ${pattern}) words="${wordsOf(flags)}" ;;`;
  });
  const values = program.commands.flatMap((command) =>
    command.options.flatMap((option) =>
      (option.argChoices ?? []).length === 0
        ? []
        : [
            `    ${flagsOf(option)
              .map((flag) => `"${command.name()} ${flag}"`)
              .join('|')}) words="${wordsOf(option.argChoices ?? [])}" ;;`,
          ],
    ),
  );
  return `_homeostat() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${wordsOf([...names, '--version', '--help'])}" -- "$current"))
    return
  fi
  case "$command" in
    help) words="${wordsOf(names)}" ;;
${cases.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words --help" -- "$current")); return ;;
  esac
  case "$command $previous" in
${values.join('\n')}
    help\\ *) ;;
    *) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _homeostat homeostat`;
}

function fishScript(program: Command): string {
  const commands = program.commands.map(
    (command) =>
      `complete -c homeostat -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.description())}`,
  );
  const options = program.commands.flatMap((command) =>
    command.options.map((option) => {
      const { short, long, description, argChoices = [] } = option;
      const parts = [
        'complete -c homeostat',
        `-n '__fish_seen_subcommand_from ${command.name()}'`,
        ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
        ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
        ...(argChoices.length === 0 ? [] : [`-xa ${quoted(wordsOf(argChoices))}`]),
        `-d ${quoted(description)}`,
      ];
      return parts.join(' ');
    }),
  );
  return [...commands, ...options].join('\n');
}

function flagsOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

function wordsOf(words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
