/** An instruction: `COPY`, and its words. Continued lines are one; the exec form is its list. */
export interface Instruction {
  readonly name: string;
  readonly words: readonly string[];
}

export interface Stage {
  /** Of `FROM ... AS name`. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile, as far as ours uses the language. */
export function parseStages(text: string): readonly Stage[] {
  const stages: { name: string | undefined; instructions: Instruction[] }[] = [];
  for (const { name, words } of instructionsOf(text)) {
    if (name === 'FROM') stages.push({ name: nameOf(words), instructions: [] });
    stages.at(-1)?.instructions.push({ name, words });
  }
  return stages;
}

/** What a stage copies out of the repository. */
export function copiedPaths({ instructions }: Stage): readonly string[] {
  return instructions
    .filter(
      ({ name, words }) => name === 'COPY' && !words.some((word) => word.startsWith('--from=')),
    )
    .flatMap(({ words }) => words.filter((word) => !word.startsWith('--')).slice(0, -1));
}

function nameOf(words: readonly string[]): string | undefined {
  const as = words.findIndex((word) => word.toUpperCase() === 'AS');
  return as === -1 ? undefined : words[as + 1];
}

function instructionsOf(text: string): readonly Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    const words: readonly string[] = rest.startsWith('[') ? JSON.parse(rest) : rest.split(/\s+/);
    return { name, words };
  });
}
