// Writes docs/functions.md from the tables of functions and helpers.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtinFunctions } from '../src/compile/language/builtin-functions.ts';
import { exampleChild, exampleResource, exampleTime } from '../src/compile/language/examples.ts';
import type { Helper } from '../src/compile/language/helper.ts';
import { languageFunctions, templateHelpers } from '../src/compile/language/index.ts';

const file = fileURLToPath(new URL('../docs/functions.md', import.meta.url));

const text = `${[
  '# Functions and helpers',
  '',
  'Generated from the tables in `src/compile/language/` by `npm run generate`; do not edit. A test evaluates every example.',
  '',
  'What the examples see: the resource',
  '',
  ...codeOf(exampleResource),
  '',
  `a child \`web\`, a ${exampleChild.kind} that is ready, and the time \`${exampleTime}\`.`,
  '',
  '## Functions in `${ }`',
  '',
  'A missing first argument gives no result, unless it says otherwise. A missing value is what a path gives that is not there.',
  '',
  ...tableOf(languageFunctions, ({ name, params }) => `$${name}(${params.join(', ')})`),
  '',
  '`$now()` and `$millis()` are the same throughout a pass. What changes from pass to pass cannot be part of a child: they, `$random()`,',
  '`$randomString()` and `$shuffle()` are refused in a template, unless they stand behind `observed.<id>.<path> ??` or in a child with',
  '`updateStrategy: { type: OnDelete }`; time is also refused in a patch, and random values in all that is reported but the status.',
  '',
  "JSONata's own functions are there too, those that could hang or grow without end with bounds:",
  '',
  `${[...builtinFunctions.keys()].map((name) => `\`$${name}\``).join(', ')}.`,
  '',
  'There is no `$eval`.',
  '',
  '## Helpers in `{{ }}`',
  '',
  'A missing argument is an error, unless it says otherwise. Blocks are `if`, `unless`, `each` and `with`; names are those of `${ }`.',
  '',
  ...tableOf(templateHelpers, ({ name, params }) => `{{${[name, ...params].join(' ')}}}`),
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

function tableOf<Context>(
  helpers: readonly Helper<Context>[],
  call: (helper: Helper<Context>) => string,
): readonly string[] {
  return [
    '| call | gives | what | example |',
    '| --- | --- | --- | --- |',
    ...helpers.map((helper) => {
      const cells = [code(call(helper)), helper.returns, helper.doc, exampleOf(helper)];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  ];
}

function exampleOf<Context>({ example }: Helper<Context>): string {
  const source = code(example.source);
  return 'gives' in example ? `${source} → ${code(JSON.stringify(example.gives))}` : source;
}

function code(source: string): string {
  return `\`${source}\``;
}
