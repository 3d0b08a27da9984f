import { parseArgs } from 'node:util';
import { suites as known } from './suites.mjs';

/**
 * What is to run. `suites`: @default unit and sandbox. `filters`: parts of paths, a file holds one of them; none = all files. `name`: a regular expression on the names of
 * tests. `again`: so many failed files run a second time. @default 0
 * `seed`: mixes the files of suites that share processes, the same way each time.
 */
export function readArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { name: { type: 'string' }, seed: { type: 'string' }, again: { type: 'string' } },
  });
  const [given = 'unit,sandbox', ...filters] = positionals;
  const suites = given.split(',');
  const unknown = suites.find((suite) => !Object.hasOwn(known, suite));
  if (unknown !== undefined)
    throw new Error(`Unknown suite "${unknown}"; known: ${Object.keys(known).join(', ')}`);
  const isSelected = filters.length > 0 || values.name !== undefined;
  const script = suites.find((suite) => known[suite].script !== undefined);
  if (script !== undefined && isSelected)
    throw new Error(`Suite "${script}" is one program: no files or names can be selected`);
  const again = Number(values.again ?? 0);
  if (!Number.isInteger(again) || again < 0)
    throw new Error(`--again needs a number of files, found "${values.again}"`);
  return {
    suites,
    filters,
    name: values.name,
    again,
    seed: values.seed === undefined ? undefined : Number(values.seed),
  };
}
