// Writes docs/rules.md from test/rules: every rule of the definition and the tests that show it.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Rule, type RuleSection, ruleSections } from '../test/rules/index.ts';

const file = fileURLToPath(new URL('../docs/rules.md', import.meta.url));

const text = `${[
  '# Rules of a definition and their tests',
  '',
  'Generated from `test/rules` by `npm run generate`; do not edit. The [reference](definition/README.md) explains the rules.',
  'Tests in `test/integration` run on a real etcd, kube-apiserver and kube-controller-manager. A fixture is a file with its expected',
  'diagnostics beside it. `test/rules` also names the test of each rule. A unit test checks that each of these tests exists, and that',
  'a rule mentions every field of the format.',
  ...ruleSections.flatMap(linesOf),
].join('\n')}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-rules.ts\n`);
  process.exitCode = 1;
}

function linesOf({ heading, page, rules }: RuleSection): readonly string[] {
  return [
    '',
    `## ${heading}`,
    '',
    `Reference: [${posix.basename(page.split('#')[0] ?? '')}](${posix.join('definition', page)}).`,
    '',
    '| rule | tested in |',
    '| --- | --- |',
    ...rules.map(rowOf),
  ];
}

function rowOf({ rule, shownBy }: Rule): string {
  const files = new Set(shownBy.map((each) => each.split(' › ', 1)[0] ?? each));
  return `| ${cell(rule)} | ${[...files].map(linkTo).join('<br>')} |`;
}

function linkTo(path: string): string {
  return `[${path.split('/').at(-1)}](../${path})`;
}

/** Text in a cell of a table. */
function cell(value: string): string {
  return value.replaceAll('|', '\\|');
}
