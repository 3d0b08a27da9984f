import { provenance } from '../results-page.ts';

export interface IsolationPageOptions {
  /** The arguments the bench was called with. */
  readonly arguments: readonly string[];
  readonly table: string;
  readonly date: Date;
}

/** The text of `RESULTS-isolation.md`. */
export function isolationPage(options: IsolationPageOptions): string {
  // Where the raw results lie is nobody's business.
  const given = options.arguments.filter((text, index, all) => {
    return text !== '--raw' && all[index - 1] !== '--raw';
  });
  const command = ['npm run bench -- isolation', ...given].join(' ');
  return [
    '# Isolation: good definitions beside bad ones',
    '',
    'Written by the bench, see [README.md](README.md#isolation).',
    '',
    ...provenance(command, options.date),
    '',
    'Latency: from the answer to a creation or an edit of a good resource until its child is there, as a client sees both.',
    '',
    options.table,
    '',
  ].join('\n');
}
