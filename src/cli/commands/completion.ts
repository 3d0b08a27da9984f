import type { Argument, Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script that completes commands, flags and their values in a shell; elsewhere the shell completes files. Made of the commands themselves. */
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

/** A command, or a command of a command, with all its names. */
interface NamedCommand {
  readonly command: Command;
  /** With the names of the command above: `dev cluster`. */
  readonly names: readonly string[];
}

function commandsBelow(parent: Command, prefix = ''): readonly NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const names = namesOf(command).map((name) => `${prefix}${name}`);
    return [{ command, names }, ...names.flatMap((name) => commandsBelow(command, `${name} `))];
  });
}

function namesOf(command: Command): readonly string[] {
  return [command.name(), ...command.aliases()];
}

/** Also for zsh, which reads a letter after the colon of a range as a modifier: so the bounds are `$((...))`. */
function bashScript(program: Command): string {
  const all = [{ command: program, names: [''] }, ...commandsBelow(program)];
  const global = flagsOf([...program.options.filter(isGlobal), program.createOption('-h, --help')]);
  const flags = all.map(({ command, names }) =>
    bashCase(names, [...new Set([...flagsOf(command.options), ...global])]),
  );
  const values = all.flatMap(({ command, names }) =>
    command.options.flatMap((option) => {
      const places = names.flatMap((name) => flagsOf([option]).map((flag) => `${name} ${flag}`));
      return bashCase(places, choicesOf(option));
    }),
  );
  const argumentsOf = all.flatMap(({ command, names }) => bashCase(names, wordsAfter(command)));
  const known = commandsBelow(program).flatMap(({ names }) => names.map((name) => `"${name}"`));
  return `_homeostat() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" word
  if [ "$current" = "=" ]; then current=""
  elif [ "$previous" = "=" ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "\${command:+$command }$word" in
      help|${known.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command $previous" in
${values.join('\n')}
    *)
      case "$current" in
        -*)
          case "$command" in
${flags.join('\n')}
          esac ;;
        *)
          case "$command" in
    help) words="${program.commands.flatMap(namesOf).join(' ')}" ;;
${argumentsOf.join('\n')}
          esac ;;
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _homeostat homeostat`;
}

/** Nothing without words. */
function bashCase(places: readonly string[], words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  return [`    ${places.map((place) => `"${place}"`).join('|')}) words="${words.join(' ')}" ;;`];
}

/** What can follow a command besides files. A command with arguments of its own begins with a letter: else files are offered. */
function wordsAfter(command: Command): readonly string[] {
  const below = command.commands.flatMap(namesOf);
  if (below.length === 0) return command.registeredArguments.flatMap(choicesOf);
  return command.registeredArguments.length === 0 ? below : [`\${current:+${below.join(' ')}}`];
}

function fishScript(program: Command): string {
  const global = program.options.filter(isGlobal).map((option) => fishOption(option, ''));
  const root = program.options.filter((option) => !isGlobal(option));
  return [
    ...global,
    ...root.map((option) => fishOption(option, '__fish_use_subcommand')),
    ...fishCommands(program, '__fish_use_subcommand'),
    ...program.commands.flatMap((command) => fishLines(command, [])),
  ].join('\n');
}

function fishLines(command: Command, above: readonly string[]): readonly string[] {
  const conditions = [...above, `__fish_seen_subcommand_from ${namesOf(command).join(' ')}`];
  const below = command.commands.flatMap(namesOf);
  const here = [
    ...conditions,
    ...(below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`]),
  ].join('; and ');
  return [
    ...command.options.map((option) => fishOption(option, here)),
    ...command.registeredArguments
      .flatMap(choicesOf)
      .map((word) => `complete -c homeostat -n '${here}' -f -a ${word}`),
    ...fishCommands(command, here),
    ...command.commands.flatMap((each) => fishLines(each, conditions)),
  ];
}

function fishCommands(parent: Command, condition: string): readonly string[] {
  const files = parent.registeredArguments.length === 0 ? ' -f' : '';
  return parent.commands.flatMap((command) =>
    namesOf(command).map(
      (name) =>
        `complete -c homeostat -n '${condition}'${files} -a ${name} -d ${quoted(command.description())}`,
    ),
  );
}

function fishOption(option: Option, condition: string): string {
  const { short, long, description, required } = option;
  const choices = choicesOf(option);
  const parts = [
    'complete -c homeostat',
    ...(condition === '' ? [] : [`-n '${condition}'`]),
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
    ...(choices.length > 0 ? [`-xa ${quoted(choices.join(' '))}`] : required ? ['-r'] : []),
    `-d ${quoted(description)}`,
  ];
  return parts.join(' ');
}

/** Can the flag stand after every command? */
function isGlobal({ long }: Option): boolean {
  return long === '--no-color';
}

function choicesOf({ argChoices = [] }: Option | Argument): readonly string[] {
  return argChoices;
}

function flagsOf(options: readonly Option[]): readonly string[] {
  return options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined));
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
