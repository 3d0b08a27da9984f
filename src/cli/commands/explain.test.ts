import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { languageNames } from '#compile';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { homeostatCommand } from '../../../test/support/recipes/homeostat-command.ts';
import type { Output } from '../output.ts';
import { explainFunctions } from './explain-functions.ts';

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
    - id: remote
      cluster: paris-1
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: remote } }
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
      '  1. remote: ConfigMap "remote"',
      '       in cluster paris-1',
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
      '  child_remote["remote<br/>ConfigMap"]',
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

  test('draws a diagram that is valid XML, with all nodes and arrows', async () => {
    const markup = (await homeostatCommand(['explain', path, '-o', 'svg'])).join('\n');
    assert.match(markup, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="\d+" height="\d+"/);
    assert.match(markup, /definition &quot;thing&quot;/);
    const open: string[] = [];
    for (const [, end, name = '', isEmpty] of markup.matchAll(/<(\/?)(\w+)(?:\s[^>]*?)?(\/?)>/g))
      if (end === '/') assert.equal(open.pop(), name);
      else if (isEmpty === '') open.push(name);
    assert.deepEqual(open, []);
    const count = (pattern: RegExp) => [...markup.matchAll(pattern)].length;
    // The list has a second box.
    assert.deepEqual(
      [count(/<rect class="node/g), count(/<path class="edge/g), count(/class="edge observed"/g)],
      [9, 8, 1],
    );
    assert.match(markup, /prefers-color-scheme: dark/);
  });

  test('prints JSON', async () => {
    const text = (await homeostatCommand(['explain', path, '-o', 'json'])).join('\n');
    const [{ children }] = JSON.parse(text);
    assert.deepEqual(
      children.map(({ id, tier, stage }: Record<string, unknown>) => [id, tier, stage]),
      [
        ['first', 1, 'always'],
        ['remote', 1, 'always'],
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

/** A definition with a child for each state. */
const stages = join(folder, 'stages.yaml');
writeFileSync(
  stages,
  thingDefinition(
    'stages',
    `  reads:
    - { id: login, apiVersion: v1, kind: Secret, name: login, optional: true }
  children:
    - id: database
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          selector: { matchLabels: { app: a } }
          template:
            metadata: { labels: { app: a } }
            spec: { containers: [{ name: a, image: nginx }] }
    - id: after
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: after }
        data: { ready: "\${ $string(children.database.status.readyReplicas) }" }
    - id: later
      after: [database]
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: later } }
    - id: never
      when: "\${ spec.size > 5 }"
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: never } }
    - id: none
      forEach: "\${ [] }"
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "none-\${ $item }" } }
    - id: secret
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: secret }
        data: { password: "\${ reads.login.data.password ?? 'none' }" }
    - id: wrong
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ spec.settings }" } }
`,
    { group: 'example.com' },
  ),
);
const thing = join(folder, 'resource.yaml');
writeFileSync(
  thing,
  'apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: one }\nspec: { size: 2, settings: "A B" }\n',
);
const login = join(folder, 'login.yaml');
writeFileSync(
  login,
  'apiVersion: v1\nkind: Secret\nmetadata: { name: login }\ndata: { password: aHVudGVyMg== }\n',
);

describe('homeostat explain DEFINITION RESOURCE', () => {
  test('prints the state of each child with its reason, and the values that expressions read', async () => {
    const found = await homeostatCommand(['explain', stages, thing, '--with', login]);
    const text = found.join('\n');
    assert.match(
      text,
      /^Thing default\/one \(example\.com\/v1\), definition "stages"\nReady is "False", reason/,
    );
    assert.match(
      text,
      /1\. database: Deployment "one": ready\n {7}metadata\.name \(line \d+\): \$\{ metadata\.name \}\n {11}metadata\.name = "one"/,
    );
    assert.match(
      text,
      /2\. after: ConfigMap "after": ready\n(?:.*\n)? +data\.ready .*\n +children\.database\.status\.readyReplicas = 1/,
    );
    assert.match(
      text,
      /never: ConfigMap: not created, because "when" is false\n +when .*\n +spec\.size = 2\n/,
    );
    assert.match(text, /none: ConfigMap: "forEach" is an empty list/);
    assert.match(text, /reads\.login\.data\.password = \(sensitive\)/);
    assert.doesNotMatch(text, /aHVudGVyMg/);
    assert.match(text, /wrong: ConfigMap.*: failed: .*A B/);
  });

  test('names what a child waits for', async () => {
    const found = await homeostatCommand(['explain', stages, thing, '--no-simulate']);
    const text = found.join('\n');
    assert.match(text, /1\. database: Deployment "one": progressing: /);
    assert.match(text, /2\. later: ConfigMap "later": waits for /);
    assert.match(text, /children\.database\.status\.readyReplicas is missing/);
  });

  test('prints JSON', async () => {
    const text = (await homeostatCommand(['explain', stages, thing, '-o', 'json'])).join('\n');
    const { children } = JSON.parse(text);
    assert.deepEqual(
      children.map(({ id, decisions }: { id: string; decisions: readonly unknown[] }) => [
        id,
        decisions.length,
      ]),
      [
        ['database', 1],
        ['never', 1],
        ['none', 0],
        ['secret', 1],
        ['wrong', 1],
        ['after', 1],
        ['later', 1],
      ],
    );
  });

  test('rejects a resource of another kind, and a diagram', async () => {
    const [otherKind] = await homeostatCommand(['explain', stages, login]);
    assert.equal(otherKind, 'No definition serves kind "Secret" (v1), only Thing');
    const [diagram] = await homeostatCommand(['explain', stages, thing, '-o', 'svg']);
    assert.equal(diagram, 'Expected "-o text" or "-o json" for a resource, found "svg"');
  });
});

describe('homeostat explain TYPE', () => {
  const explain = (...args: readonly string[]) => homeostatCommand(['explain', ...args]);

  test('prints a field of a built-in kind by any name of the kind', async () => {
    for (const name of ['deploy', 'deployments', 'Deployment', 'deployments.apps'])
      assert.deepEqual((await explain(`${name}.spec.replicas`)).slice(0, 8), [
        'GROUP:      apps',
        'KIND:       Deployment',
        'VERSION:    v1',
        '',
        'FIELD: replicas <integer>',
        '',
        'DESCRIPTION:',
        '    Number of desired pods. This is a pointer to distinguish between explicit',
      ]);
  });

  test('prints values and defaults, and the types of lists and maps', async () => {
    const protocol = await explain('service.spec.ports.protocol');
    assert.deepEqual(protocol.slice(3, 9), [
      'FIELD: protocol <string>',
      'ENUM:',
      '    SCTP',
      '    TCP',
      '    UDP',
      'DEFAULT:    TCP',
    ]);
    const service = (await explain('service.spec')).join('\n');
    assert.match(service, /^ {2}ports <\[\]ServicePort>$/m);
    assert.match(service, /^ {2}selector <map\[string\]string>$/m);
  });

  test('prints the kinds of definitions, which the flag names', async () => {
    const flags = ['--definitions', 'operators/database.yaml'];
    const found = (await explain('database.spec', ...flags)).join('\n');
    assert.match(found, /KIND: {7}Database\nVERSION: {4}v1alpha1\n\nFIELD: spec <Object>/);
    assert.match(found, /^ {2}keepClaims <boolean>\n {4}default: false\n/m);
    const [missing] = await explain('podset.spec', ...flags);
    assert.match(missing ?? '', /"podset" is neither/);
    const before = (await homeostatCommand(['explain', ...flags, 'database.spec'])).join('\n');
    assert.equal(before, found);
    const both = ['--definitions', 'operators/podset.yaml', ...flags];
    assert.match((await explain('podset', ...both)).join('\n'), /KIND: {7}PodSet/);
    assert.match((await explain('database', ...both)).join('\n'), /KIND: {7}Database/);
    const size = (await explain('podset.spec.size')).join('\n');
    assert.match(size, /FIELD: size <integer> -required-/);
  });

  test('prints the formats of files', async () => {
    const found = (await explain('operatordefinition.spec.children')).join('\n');
    assert.match(found, /^FIELD: children <\[\]Object>$/m);
    assert.match(found, /^ {2}id <string> -required-$/m);
    assert.match((await explain('operatortests.spec')).join('\n'), /^ {2}steps <\[\]Object>/m);
  });

  test('--recursive names all fields, and ends in a type that contains itself', async () => {
    const found = await explain('podset', '--recursive');
    assert.ok(found.includes('  spec <Object> -required-'), found.join('\n'));
    assert.ok(found.includes('    size <integer> -required-'));
    const crd = await explain('crd.spec.versions.schema', '--recursive');
    assert.ok(crd.includes('    properties <map[string]JSONSchemaProps>'), crd.join('\n'));
    assert.ok(crd.length < 100);
  });

  test('suggests a near name for a kind or a field that does not exist', async () => {
    const [kind] = await explain('podsett.spec');
    assert.equal(
      kind,
      '"podsett" is neither a file or folder, nor a kind of Kubernetes or a definition',
    );
    const [field] = await explain('podset.spec.sise');
    assert.equal(field, 'PodSet.spec has no field "sise"');
    const [path] = await explain('missing/podset.yaml');
    assert.equal(path, 'Cannot read "missing/podset.yaml": no such file or directory');
  });
});

describe('homeostat explain functions', () => {
  const explained = (word: string) => {
    const lines: string[] = [];
    const output = { print: (line: string) => void lines.push(line) } as unknown as Output;
    explainFunctions(word, output);
    return lines.join('\n');
  };

  test('names all functions, variables and helpers', () => {
    const text = explained('functions');
    for (const { call } of languageNames()) assert.ok(text.includes(call), call);
    assert.ok(text.split('\n').every((line) => line.length <= 110));
  });

  test('one function has its signature, description and example', () => {
    assert.match(explained('$randomString'), /^\$randomString\(length\): string\nA random string/);
  });

  test('a mistyped function has a suggestion', () => {
    assert.throws(() => explained('$randomstring'), { hint: 'Did you mean "$randomString"?' });
  });
});
