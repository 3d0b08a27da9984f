import { parseArgs } from 'node:util';

/**
 * What is to run. `suites`: @default unit and sandbox. `filters`: parts of paths, a file holds one of them; none = all files. `name`: a regular expression on the names of
 * tests. `seed`: mixes the files of suites that share processes, the same way each time.
 */
export function readArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { name: { type: 'string' }, seed: { type: 'string' } },
  });
  const [suites = 'unit,sandbox', ...filters] = positionals;
  return {
    suites: suites.split(','),
    filters,
    name: values.name,
    seed: values.seed === undefined ? undefined : Number(values.seed),
  };
}
