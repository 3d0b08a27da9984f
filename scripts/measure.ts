// The size of the sources, and what one edit of a resource runs: `npm run measure [-- --files]`. Definitions: scripts/measure.
import { parseArgs } from 'node:util';
import { measureEditPath, sizeOfPath } from './measure/edit-path.ts';
import { definitionTypes, readSources, roomOf } from './measure/source-size.ts';

const { values } = parseArgs({ options: { files: { type: 'boolean', default: false } } });
const shortLines = 30;

const sources = readSources('src');
const linesOf = (files: typeof sources) => files.reduce((sum, { lines }) => sum + lines, 0);
const rooms = Map.groupBy(sources, roomOf);
const short = sources.filter(({ lines }) => lines <= shortLines);
const types = definitionTypes(sources);
const edit = await measureEditPath();
const path = sizeOfPath(edit);
const pathRooms = new Set([...edit.functionsByFile.keys()].map((file) => file.split('/')[0] ?? ''));

const rows: readonly (readonly [string, number])[] = [
  ['lines in src without tests', linesOf(sources)],
  ...[...rooms].map(([room, files]) => [`  ${room}`, linesOf(files)] as const),
  ['files', sources.length],
  [`files of ${shortLines} lines or fewer`, short.length],
  ['functions that an edit runs, with all that they call', path.functions],
  ...[...pathRooms].map((room) => [`  ${room}`, sizeOfPath(edit, room).functions] as const),
  ['files of these functions', path.files],
  ...[...pathRooms].map((room) => [`  ${room}`, sizeOfPath(edit, room).files] as const),
  ['exported types of a whole definition, of the engine', types.ofEngine.length],
  ['  of tools, console and library', types.ofOthers.length],
  ['  of its parts', types.parts.length],
];
for (const [what, count] of rows) console.log(`${what.padEnd(54)}${String(count).padStart(8)}`);
if (values.files) {
  const files = [...edit.functionsByFile].map(([file, names]) => `${file}: ${names.join(', ')}`);
  console.log(`\n${files.join('\n')}`);
}
// Connections of the sandbox are kept open for a while.
process.exit(0);
