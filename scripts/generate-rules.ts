// Writes docs/rules.md from test/rules: every rule of the definition and the tests that show it.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Rule, type RuleSection, ruleSections } from '../test/rules/index.ts';

const file = fileURLToPath(new URL('../docs/rules.md', import.meta.url));

const text = `${[
  '# The rules of a definition, and the tests that show them',
  '',
  'Generated from `test/rules` by `npm run generate`; do not edit. The page that says what the rules mean is [definition.md](definition.md).',
  'Tests in `test/integration` run on a real etcd, kube-apiserver and kube-controller-manager. Fixtures are files with the diagnostics',
  'that they must get beside them. A unit test holds that every test named here exists, and that every field of the format is in a rule.',
  ...ruleSections.flatMap(linesOf),
].join('\n')}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-rules.ts\n`);
  process.exitCode = 1;
}

function linesOf({ heading, rules }: RuleSection): readonly string[] {
  return ['', `## ${heading}`, '', '| rule | shown by |', '| --- | --- |', ...rules.map(rowOf)];
}

function rowOf({ rule, shownBy }: Rule): string {
  return `| ${cell(rule)} | ${shownBy.map(evidence).join('<br>')} |`;
}

function evidence(each: string): string {
  const [path = '', title] = each.split(' › ');
  const link = `[${path.split('/').at(-1)}](../${path})`;
  return title === undefined ? link : `${link}: ${cell(title)}`;
}

/** Text in a cell of a table. */
function cell(value: string): string {
  return value.replaceAll('|', '\\|');
}
