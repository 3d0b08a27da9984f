import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { homeostatCommand } from '../../../test/support/recipes/homeostat-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-explain-'));
after(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'thing.yaml');
writeFileSync(
  path,
  thingDefinition(
    'thing',
    `  vars: { size: "\${ spec.size ?? 1 }" }
  reads:
    - { id: settings, apiVersion: v1, kind: ConfigMap, name: "\${ spec.settings }", optional: true }
  children:
    - id: last
      after: [first]
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: last }, data: { a: "\${ reads.settings.data.a }" } }
    - id: first
      when: "\${ vars.size > 0 }"
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
    - id: each
      forEach: "\${ [1..vars.size] }"
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "each-\${ $item }" }
        data: { first: "\${ children.first.data.a }", now: "\${ observed.last.data.a ?? 'none' }" }
  onDelete:
    children:
      - id: end
        template: { apiVersion: v1, kind: ConfigMap, metadata: { name: end } }
  conditions:
    - { type: Big, status: "\${ vars.size > 5 }" }
`,
    { group: 'example.com' },
  ),
);

describe('homeostat explain', () => {
  test('prints what is read, created and reported, through vars', async () => {
    assert.deepEqual(await homeostatCommand(['explain', path]), [
      'Thing (example.com/v1), definition "thing"',
      '',
      'Reads',
      '  settings: ConfigMap by name, optional',
      '       reads spec.settings',
      '',
      'Children, in the order of their creation',
      '  1. first: ConfigMap "${ metadata.name }"',
      '       when ${ vars.size > 0 }',
      '       reads metadata.name, spec.size',
      '  2. last: ConfigMap "last"',
      '       waits for first',
      '       reads reads.settings.data.a',
      '  2. each: ConfigMap "each-${ $item }"',
      '       for each ${ [1..vars.size] }',
      '       waits for first',
      '       reads children.first.data.a, observed.last.data.a, spec.size',
      '  on delete. end: ConfigMap "end"',
      '',
      'Reported',
      '  condition Big: reads spec.size',
    ]);
  });

  test('prints a diagram', async () => {
    assert.deepEqual(await homeostatCommand(['explain', path, '-o', 'mermaid']), [
      'flowchart LR',
      '  resource(["Thing"])',
      '  reads_settings[("settings<br/>ConfigMap")]',
      '  child_first["first<br/>ConfigMap"]',
      '  child_last["last<br/>ConfigMap"]',
      '  child_each[["each<br/>ConfigMap"]]',
      '  child_end["end<br/>ConfigMap"]',
      '  status(["status"])',
      '  resource --> reads_settings',
      '  resource --> child_first',
      '  reads_settings --> child_last',
      '  child_first --> child_last',
      '  child_first --> child_each',
      '  child_last -.-> child_each',
      '  resource --> child_each',
      '  resource --> status',
    ]);
  });

  test('prints JSON', async () => {
    const text = (await homeostatCommand(['explain', path, '-o', 'json'])).join('\n');
    const [{ children }] = JSON.parse(text);
    assert.deepEqual(
      children.map(({ id, tier, stage }: Record<string, unknown>) => [id, tier, stage]),
      [
        ['first', 1, 'always'],
        ['last', 2, 'always'],
        ['each', 2, 'always'],
        ['end', 1, 'onDelete'],
      ],
    );
  });

  test('prints the errors of a definition that is not valid', async () => {
    const wrong = join(folder, 'wrong.yaml');
    writeFileSync(wrong, 'apiVersion: homeostat.dev/v1alpha1\nkind: OperatorDefinition\n');
    const lines = await homeostatCommand(['explain', wrong]);
    assert.match(lines.join('\n'), /error\[/);
  });
});
