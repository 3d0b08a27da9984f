// `npm run generate -- readmes`: the line "May import" in the README of each room, from scripts/imports/rooms.ts. `-- --check` writes nothing and
// fails if a line is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { folderOf, packages, rooms } from './imports/rooms.ts';

const isCheck = process.argv.includes('--check');
const line = /(?<=^(?:- )?)May import: .*$/m;

for (const [room, imports] of Object.entries(rooms)) {
  const path = `src/${folderOf(room)}/README.md`;
  const text = readFileSync(path, 'utf8');
  if (!line.test(text)) fail(`Expected a line "May import: ..." in ${path}`);
  const updated = text.replace(line, () => lineOf(room, imports));
  if (updated === text) continue;
  if (isCheck) fail(`${path} is not up to date: run npm run generate -- readmes`);
  else writeFileSync(path, updated);
}

function lineOf(room: string, imports: readonly string[]): string {
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const own = Object.entries(packages).flatMap(([name, where]) =>
    where === room || where.startsWith(`${room}/`) ? [name] : [],
  );
  const others = imports.length === 0 ? 'no other room' : quoted(imports);
  return `May import: ${others}.${own.length === 0 ? '' : ` Only this room imports ${quoted(own)}.`}`;
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
