import { type LanguageName, languageNames } from '#compile';
import { didYouMean } from '#util/did-you-mean.ts';
import { CliError, exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';

const sections: Readonly<Record<LanguageName['kind'], string>> = {
  function: 'FUNCTIONS of ${ }',
  variable: 'VARIABLES of ${ }',
  helper: 'HELPERS of {{ }}',
};

/** The word of `homeostat explain` that names all functions; a single one begins with `$`. */
export function namesFunctions(word: string): boolean {
  return word === 'functions' || word.startsWith('$');
}

/**
 * `homeostat explain functions`: prints what expressions can call; `explain '$hash'` describes one function or variable.
 * @throws CliError for a function that does not exist
 */
export function explainFunctions(word: string, output: Output): number {
  const names = languageNames();
  if (word === 'functions') {
    output.print(sectionsOf(names).join('\n\n'));
    return exitCode.ok;
  }
  const found = names.find(({ name }) => name === word);
  const known = names.map(({ name }) => name);
  if (found === undefined)
    throw new CliError(`There is no function "${word}"`, {
      hint: didYouMean(word, known) ?? '"homeostat explain functions" names all',
    });
  output.print(linesOf(found).join('\n'));
  return exitCode.ok;
}

function sectionsOf(names: readonly LanguageName[]): readonly string[] {
  return Object.entries(sections).map(([kind, title]) => {
    const own = names.filter((name) => name.kind === kind);
    const lines = own.flatMap(({ call, doc = '' }) => [`  ${call}`, `    ${doc}`]);
    return [title, ...lines].join('\n');
  });
}

function linesOf({ call, returns, doc, example }: LanguageName): readonly string[] {
  const gives = example !== undefined && 'gives' in example;
  return [
    returns === undefined ? call : `${call}: ${returns}`,
    ...(doc === undefined ? [] : [doc]),
    ...(example
      ? [`Example: ${example.source}${gives ? ` gives ${JSON.stringify(example.gives)}` : ''}`]
      : []),
  ];
}
