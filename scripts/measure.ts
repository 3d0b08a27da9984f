// How large the sources are, and how much of them one edit of a resource runs through: `npm run measure [-- --files]`.
import { parseArgs } from 'node:util';
import { measureEditPath } from './measure/edit-path.ts';
import { definitionTypes, readSources, roomOf } from './measure/source-size.ts';

const { values } = parseArgs({ options: { files: { type: 'boolean', default: false } } });
const shortLines = 30;

const sources = readSources('src');
const linesOf = (files: typeof sources) => files.reduce((sum, { lines }) => sum + lines, 0);
const rooms = Map.groupBy(sources, roomOf);
const short = sources.filter(({ lines }) => lines <= shortLines);
const types = definitionTypes(sources);
const edit = await measureEditPath();

const rows: readonly (readonly [string, number])[] = [
  ['lines in src without tests', linesOf(sources)],
  ...[...rooms].map(([room, files]) => [`  ${room}`, linesOf(files)] as const),
  ['files', sources.length],
  [`files of ${shortLines} lines or fewer`, short.length],
  ['functions on the path of an edit', edit.functions],
  ['files on the path of an edit', edit.files.length],
  ['exported types of a whole definition, of the engine', types.ofEngine.length],
  ['  of tools, console and library', types.ofOthers.length],
  ['  of its parts', types.parts.length],
];
for (const [what, count] of rows) console.log(`${what.padEnd(54)}${String(count).padStart(8)}`);
if (values.files) console.log(`\n${edit.files.join('\n')}`);
// Connections of the sandbox are kept open for a while.
process.exit(0);
