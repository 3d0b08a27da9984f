import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { KubeObject } from '#util/kube-object.ts';
import { type Block, isRewriting, Page } from '../../support/pages/index.ts';
import { phaseOf, planOfThing, present, thing } from '../../support/thing-plan.ts';

const page = new Page('expressions.md');
const blocks = page.sections.flatMap((section) => section.blocks);
const resource: KubeObject = parse(
  blocks.find(({ words }) => words.includes('resource'))?.lines.join('\n') ?? '',
);
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  status: { readyReplicas: 2, conditions: [{ type: 'Available', status: 'True' }] },
};
const pods = ['web-2', 'web-1'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
}));

/** The value of a status field with this text, in a definition with the page's child and read. */
async function evaluate(text: string): Promise<unknown> {
  const plan = planOfThing(`  reads:
    - { id: pods, apiVersion: v1, kind: Pod, selector: all }
  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: web }
        spec:
          selector: { matchLabels: { app: web } }
          template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web }] } }
  status: { value: ${JSON.stringify(text)} }
`);
  const phase = phaseOf(plan, {
    phase: 'reporting',
    resource: { ...thing(), ...resource },
    children: new Map([['web', present(web)]]),
    reads: new Map([['pods', present(pods)]]),
  });
  const { fields, failures } = await phase.status();
  assert.deepEqual(failures, []);
  return fields.value;
}

/** Compares what a page shows with what is so; when rewriting, the page gets what is so. */
function settle(shown: readonly string[], lines: readonly string[], first: number): void {
  if (!isRewriting()) assert.equal(shown.join('\n'), lines.join('\n'));
  else if (shown.join('\n') !== lines.join('\n')) page.edit({ first, count: shown.length, lines });
}

/** `a`, or ``a`b``: code in a cell of a table. */
function codeIn(cell: string): string {
  return cell.replace(/^(`+)(.*?)\1$/, '$2').trim();
}

describe('docs/expressions', () => {
  after(() => page.save());

  const rows = page.lines.flatMap((line, index) => {
    const [, need, source] = /^\| (.+?) \| (`.+`) \| .*\|$/.exec(line) ?? [];
    const isExpression = source !== undefined && !need?.startsWith('`');
    return isExpression ? [{ need, source, line, index }] : [];
  });

  test('has twenty expressions', () => assert.equal(rows.length, 20));

  for (const { need, source, line, index } of rows) {
    test(`${need}: ${codeIn(source)}`, async () => {
      const value = JSON.stringify(await evaluate(`\${ ${codeIn(source)} }`));
      settle([line], [`| ${need} | ${source} | \`${value}\` |`], index);
    });
  }

  const templates = blocks.filter(({ language }) => language === 'handlebars');
  const resultOf = (template: Block) => blocks[blocks.indexOf(template) + 1];

  test('has ten templates', () => assert.equal(templates.length, 10));

  for (const template of templates) {
    const text = template.lines.join('\n');
    test(`template ${text}`, async () => {
      const result = resultOf(template);
      assert.equal(result?.language, 'text');
      const value = String(await evaluate(text)).replace(/\n$/, '');
      settle(result?.lines ?? [], value.split('\n'), result?.first ?? 0);
    });
  }

  // What the page says beside its tables.
  for (const [source, result] of [
    ['spec.ports[port > 1000].name[]', ['admin']],
    ['spec.typo.name', undefined],
    ['$not(spec.mode = "fast")', true],
  ] as const) {
    test(`${source} gives ${JSON.stringify(result)}`, async () => {
      assert.deepEqual(await evaluate(`\${ ${source} }`), result);
    });
  }
});
