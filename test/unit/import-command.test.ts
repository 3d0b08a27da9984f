import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { importDefinitions } from '#cli/commands/import.ts';
import type { Output } from '#cli/output.ts';

const corpus = 'test/fixtures/import/kro';

function recordOutput() {
  const lines: string[] = [];
  const errors: string[] = [];
  const output: Output = {
    print: (text) => void lines.push(text),
    error: (text) => void errors.push(text),
    hasColor: false,
    isTerminal: false,
  };
  return { lines, errors, output };
}

describe('homeostat import', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-import-'));
  after(() => rmSync(folder, { recursive: true }));

  test('writes definitions and samples, and reports every construct', async () => {
    const { lines, errors, output } = recordOutput();
    const target = join(folder, 'operators');
    const code = await importDefinitions([`${corpus}/01-web-app.yaml`], { output: target }, output);
    assert.deepEqual([code, errors], [0, []]);
    assert.deepEqual(lines.slice(0, 2), [
      `Created ${target}/shop-front.yaml`,
      `Created ${target}/samples/shop-front.yaml`,
    ]);
    const text = lines.join('\n');
    assert.match(text, /^10:13 +schema\.spec\.name +converted$/m);
    assert.match(
      text,
      /^17:26 +schema\.status\.availableReplicas +approximated: 0 while the field has/m,
    );
    assert.match(text, /^\d+ constructs: \d+ converted, 1 approximated, 0 left out$/m);
    assert.match(
      text,
      /^ShopFront "winter" is ready in a simulated cluster with Deployment\/winter-sale, /m,
    );
    assert.match(readFileSync(`${target}/samples/shop-front.yaml`, 'utf8'), /^kind: ShopFront$/m);
  });

  test('two names that become one file: nothing is written, and both sources are named', async () => {
    const graph = readFileSync(`${corpus}/01-web-app.yaml`, 'utf8');
    const [first = '', second = ''] = ['first.yaml', 'second.yaml'].map((name) =>
      join(folder, name),
    );
    writeFileSync(first, graph);
    writeFileSync(second, graph.replace('name: shop-front', 'name: Shop.Front'));
    const target = join(folder, 'collapsed');
    await assert.rejects(
      importDefinitions([first, second], { output: target }, recordOutput().output),
      /first\.yaml: .*"shop-front" and .*second\.yaml: .*"Shop\.Front" would both be written to/,
    );
    assert.equal(existsSync(target), false);
  });

  test('without --output, the definition is on standard output and the report on standard error', async () => {
    const { lines, errors, output } = recordOutput();
    assert.equal(await importDefinitions([`${corpus}/01-web-app.yaml`], {}, output), 0);
    assert.match(
      lines.join('\n'),
      /^apiVersion: homeostat\.dev\/v1alpha1\nkind: OperatorDefinition/,
    );
    assert.match(errors.join('\n'), /constructs: /);
  });

  test('a file as output has all definitions', async () => {
    const { output } = recordOutput();
    const file = join(folder, 'all.yaml');
    const sources = [`${corpus}/01-web-app.yaml`, `${corpus}/10-choices.yaml`];
    assert.equal(await importDefinitions(sources, { output: file }, output), 0);
    assert.equal(readFileSync(file, 'utf8').match(/^kind: OperatorDefinition$/gm)?.length, 2);
  });

  test('exit code 1 when a construct is left out, with place and reason', async () => {
    const { lines, output } = recordOutput();
    const target = join(folder, 'left-out');
    const code = await importDefinitions(
      [`${corpus}/29-addresses.yaml`],
      { output: target },
      output,
    );
    assert.equal(code, 1);
    assert.match(lines.join('\n'), /^26:13 .* left out: The function "isURL" has no equivalent$/m);
  });

  test('an existing file is kept, and no other file is written', async () => {
    const { output } = recordOutput();
    const file = join(folder, 'choices.yaml');
    writeFileSync(file, 'mine');
    await assert.rejects(
      importDefinitions(
        [`${corpus}/01-web-app.yaml`, `${corpus}/10-choices.yaml`],
        { output: folder },
        output,
      ),
      { message: /choices\.yaml" exists already/ },
    );
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    assert.equal(existsSync(join(folder, 'shop-front.yaml')), false);
  });

  test('a file without anything to import is a usage error', async () => {
    await assert.rejects(importDefinitions(['operators/podset.yaml'], {}, recordOutput().output), {
      message: 'There is nothing to import in operators/podset.yaml',
    });
  });

  test('syntax errors are printed with their place, and nothing is converted', async () => {
    const { lines, errors, output } = recordOutput();
    const file = join(folder, 'broken.yaml');
    writeFileSync(file, 'kind: [\n');
    assert.equal(await importDefinitions([file], {}, output), 1);
    assert.deepEqual(lines, []);
    assert.match(errors.join('\n'), /broken\.yaml:\d+:\d+: error\[yaml-syntax\]/);
  });

  test('an answer without a request and response, and a mistyped kind, are noted', async () => {
    const { lines, output } = recordOutput();
    const [controller, answer] = [join(folder, 'labeler.yaml'), join(folder, 'answer.json')];
    const decorator = `apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: { name: labeler }
spec:
  resources: [{ apiVersion: v1, resource: namespaces }]
  attachments: [{ apiVersion: v1, resource: resourcequotas }]
  hooks: { sync: { webhook: { url: "http://hooks/sync" } } }
`;
    writeFileSync(controller, `${decorator}---\n${decorator.replace('Decorator', 'Decoratr')}`);
    writeFileSync(answer, '{ "object": { "kind": "Namespace" }, "attachments": [] }');
    const flags = { output: join(folder, 'labeler'), syncResponse: [answer] };
    assert.equal(await importDefinitions([controller], flags, output), 1);
    const text = lines.join('\n').replaceAll(`${folder}/`, '');
    assert.match(
      text,
      /^Note: labeler\.yaml:9:1: DecoratrController is not imported\. Did you mean "DecoratorController"\?$/m,
    );
    assert.match(text, /^Note: answer\.json:1:1: This is no recorded answer for a parent/m);
    // The skeleton is in the Namespace that is decorated.
    const definition = readFileSync(join(folder, 'labeler/labeler.yaml'), 'utf8');
    assert.match(definition, /namespace: \$\{ metadata\.name \}/);
  });
});
