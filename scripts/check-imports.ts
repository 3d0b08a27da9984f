// Checks what the rooms of src import: `npm run lint`. The tables are in scripts/imports/rooms.ts.
import { wrongImports } from './imports/wrong-imports.ts';
import { readSources } from './measure/source-size.ts';

const wrong = wrongImports(readSources('src'));
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exitCode = 1;
}
