// Writes the generated files: `npm run generate [-- NAME...] [--check]`, all of them without a name. With --check, they are only compared.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { generators } from './named-programs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const flags = given.filter((each) => each.startsWith('-'));
const names = given.filter((each) => !each.startsWith('-'));
const unknown = names.find((name) => !Object.hasOwn(generators, name));
const unknownFlag = flags.find((flag) => flag !== '--check');
if (unknown !== undefined) {
  const known = Object.keys(generators).join(', ');
  process.stderr.write(`Expected one of ${known}, or none; found "${unknown}"\n`);
  process.exit(1);
}
if (unknownFlag !== undefined) {
  process.stderr.write(`Expected "--check" or no flag, found "${unknownFlag}"\n`);
  process.exit(1);
}
for (const [name, file] of Object.entries(generators)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { status } = spawnSync(process.execPath, [file, ...flags], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
