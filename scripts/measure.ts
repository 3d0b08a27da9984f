// How much there is to know: `npm run measure [-- --files | --edit-path]`. Definitions: scripts/measure.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runAgainCalls } from './measure/calls.ts';
import { measureEditPath, sizeOfPath } from './measure/edit-path.ts';
import { features, footprintOf, isOwnFile } from './measure/footprint.ts';
import { recordedCpu } from './measure/recorded-cpu.ts';
import { definitionTypes, readSources, roomOf } from './measure/source-size.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'boolean', default: false },
    // The executed files as JSON, for a test.
    'edit-path': { type: 'boolean', default: false },
  },
});
const shortLines = 30;

const edit = await measureEditPath();
if (values['edit-path']) console.log(JSON.stringify([...edit.functionsByFile.keys()]));
else printAll();
// Connections of the sandbox are kept open for a while.
process.exit(0);

function printAll(): void {
  const sources = readSources('src');
  const linesOf = (files: typeof sources) => files.reduce((sum, { lines }) => sum + lines, 0);
  const rooms = Map.groupBy(sources, roomOf);
  const short = sources.filter(({ lines }) => lines <= shortLines);
  const types = definitionTypes(sources);
  const calls = runAgainCalls(sources);
  const pathRooms = new Set(
    [...edit.functionsByFile.keys()].map((file) => file.split('/')[0] ?? ''),
  );
  const executed = [...edit.functionsByFile.keys()];
  print('1. Files outside of a feature that know it', [
    ...features.map((each) => [each.name, footprintOf(each, sources).length] as const),
  ]);
  print('2. Files of a feature that an edit of a PodSet executes', [
    ...features.map(
      (each) => [each.name, executed.filter((path) => isOwnFile(each, path)).length] as const,
    ),
  ]);
  print('3. What runs a key again, in controller, reconcile and runtime', [
    ['calls that enqueue', calls.enqueues],
    ['timers', calls.timers],
  ]);
  print('4. Drills by fresh eyes (by hand): time and opened files', [
    ['files that an edit executes', executed.length],
    ['functions', sizeOfPath(edit).functions],
  ]);
  print('5. Requests of an edit, and recorded CPU of a resource in ms (mutants: by hand)', [
    ['requests', edit.requests],
    ...recordedCpu(readFileSync('bench/RESULTS.md', 'utf8')),
  ]);
  print('Sizes, for orientation', [
    ['lines in src without tests', linesOf(sources)],
    ...[...rooms].map(([room, files]) => [`  ${room}`, linesOf(files)] as const),
    ['files', sources.length],
    [`files of ${shortLines} lines or fewer`, short.length],
    ['functions that an edit runs, with all that they call', sizeOfPath(edit).functions],
    ...[...pathRooms].map((room) => [`  ${room}`, sizeOfPath(edit, room).functions] as const),
    ['files of these functions', executed.length],
    ...[...pathRooms].map((room) => [`  ${room}`, sizeOfPath(edit, room).files] as const),
    ['exported types of a whole definition, of the engine', types.ofEngine.length],
    ['  of tools, console and library', types.ofOthers.length],
    ['  of its parts', types.parts.length],
  ]);
  if (!values.files) return;
  const names = [...edit.functionsByFile].map(([file, each]) => `${file}: ${each.join(', ')}`);
  console.log(`\n${names.join('\n')}`);
}

function print(title: string, rows: readonly (readonly [string, number])[]): void {
  console.log(`\n${title}`);
  for (const [what, count] of rows) console.log(`  ${what.padEnd(54)}${String(count).padStart(8)}`);
}
