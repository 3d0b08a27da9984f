// Writes docs/functions.md from the tables of functions and helpers.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtinFunctions } from '#compile/language/builtin-functions.ts';
import { type LanguageName, languageNames } from '#compile/language/index.ts';
import { exampleChild, exampleResource, exampleTime } from '../test/support/compile/examples.ts';

const file = fileURLToPath(new URL('../docs/functions.md', import.meta.url));

const names = languageNames();
const isBuiltin = ({ name }: LanguageName) => builtinFunctions.has(name.slice(1));
const functions = names.filter(({ kind }) => kind === 'function');
const helpers = names.filter(({ kind, example }) => kind === 'helper' && example !== undefined);

const text = `${[
  '# Functions and helpers',
  '',
  'Generated from the tables in `src/engine/compile/language/` by `npm run generate`; do not edit. A test evaluates every example.',
  '',
  'This page lists the functions and helpers of expressions. The examples read this resource,',
  '',
  ...codeOf(exampleResource),
  '',
  `a child \`web\`, a ready ${exampleChild.kind}, and the time \`${exampleTime}\`.`,
  '',
  '## Functions in `${ }`',
  '',
  'A missing first argument gives no result, unless the function says otherwise. A path that does not exist gives a missing value.',
  '',
  ...tableOf(functions.filter((each) => !isBuiltin(each))),
  '',
  '`$now()` and `$millis()` are constant within a reconcile. A child cannot contain values that change with each reconcile: they, `$nextTime()`',
  'without its last argument, `$random()`,',
  '`$randomString()` and `$shuffle()` are rejected in a template, except where a time is only compared, after `observed.<id>.<path> ??` or in a child with',
  '`updateStrategy: { type: OnDelete }`; time is also rejected in a patch, and random values everywhere in reporting except the status.',
  '',
  'The functions of JSONata, with limits for those that could hang or grow without end (a parameter with `?` is optional):',
  '',
  ...tableOf(functions.filter(isBuiltin)),
  '',
  '`$eval` does not exist.',
  '',
  '## Helpers in `{{ }}`',
  '',
  'A missing argument is an error, unless the helper says otherwise. The blocks are `if`, `unless`, `each` and `with`. The names are those of `${ }`.',
  '',
  ...tableOf(helpers),
].join('\n')}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-functions-page.ts\n`);
  process.exitCode = 1;
}

function codeOf(value: unknown): readonly string[] {
  return ['```json', JSON.stringify(value), '```'];
}

function tableOf(rows: readonly LanguageName[]): readonly string[] {
  return [
    '| call | gives | what | example |',
    '| --- | --- | --- | --- |',
    ...rows.map((row) => {
      const cells = [code(row.call), row.returns, row.doc, exampleOf(row)];
      return `| ${cells.map((cell = '') => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  ];
}

function exampleOf({ example }: LanguageName): string {
  if (example === undefined) return '';
  const source = code(example.source);
  return 'gives' in example ? `${source} → ${code(JSON.stringify(example.gives))}` : source;
}

function code(source: string): string {
  return `\`${source}\``;
}
