// Writes schemas/operator-definition.schema.json, for editors, from the schema that the validator uses.
// With --check it only compares, and fails when the file is not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { definitionSchema } from '../src/definition/index.ts';

const file = fileURLToPath(new URL('../schemas/operator-definition.schema.json', import.meta.url));
const text = `${JSON.stringify(definitionSchema, null, 2)}\n`;

if (!process.argv.includes('--check')) {
  mkdirSync(new URL('../schemas/', import.meta.url), { recursive: true });
  writeFileSync(file, text);
} else if (readOrEmpty(file) !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-definition-schema.ts\n`);
  process.exitCode = 1;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
