// `node scripts/run-named.mjs build|bench [NAME] [ARGUMENT...]`: runs the program of that name in this process.
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureChromium } from './ensure-chromium.mjs';
import { namedPrograms } from './named-programs.ts';

const [group, name = '', ...rest] = process.argv.slice(2);
const programs = namedPrograms[group];
// A flag is an argument of the default program.
const isNamed = name !== '' && !name.startsWith('-');
if (isNamed && !Object.hasOwn(programs, name)) {
  const known = Object.keys(programs).filter((each) => each !== '');
  process.stderr.write(`Expected one of ${known.join(', ')}, or none; found "${name}"\n`);
  process.exit(1);
}
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { file, args = [], needsBrowser = false } = programs[isNamed ? name : ''];
if (needsBrowser && !ensureChromium()) process.exit(1);
const path = resolve(file);
// The program sees its own arguments.
const given = isNamed || name === '' ? rest : [name, ...rest];
process.argv.splice(1, Number.POSITIVE_INFINITY, path, ...args, ...given);
await import(pathToFileURL(path).href);
