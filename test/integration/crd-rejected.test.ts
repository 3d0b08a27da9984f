import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

/** Schemas that only the server can judge, with what its place begins with and its reason. */
const mistakes = [
  {
    what: 'a regular expression',
    schema: '{ type: string, pattern: "[" }',
    at: '"["',
    reason: /must be a valid regular expression/,
  },
  {
    what: 'a CEL rule',
    schema: '{ type: integer, x-kubernetes-validations: [{ rule: "self >" }] }',
    at: '"self >"',
    reason: /cannot compile this CEL expression/,
  },
] as const;

shared.describe('integration/crd-rejected', () => {
  /** Runs the definition in `wrong.yaml` of a ConfigMap. */
  async function fromConfigMap(text: string): Promise<HomeostatRuntime> {
    const namespace = await shared.namespace();
    await shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts', namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data: { 'wrong.yaml': text },
    });
    return launch({ flags: ['--sources', 'configmaps', '--definitions-namespace', namespace] });
  }

  const sources = [
    ['folder', 'of a folder', (text: string) => launch({ definitions: { 'wrong.yaml': text } })],
    ['map', 'of a ConfigMap', fromConfigMap],
  ] as const;

  for (const [source, where, start] of sources)
    for (const [index, { what, schema, at, reason }] of mistakes.entries())
      test(`${what} that only the server can judge, in a definition ${where}: its condition and the log name file, line and column`, async () => {
        const name = `rejected-${source}-${index}`;
        const text = thingDefinition(name, '', {
          schema: ` { type: object, properties: { spec: { type: object, properties: { size: ${schema} } } } }`,
        });
        const line = text.split('\n').findIndex((each) => each.includes(at));
        const column = (text.split('\n')[line] ?? '').indexOf(at);
        const homeostat = await start(text);
        const { diagnostics } = await homeostat.whenLogged('Definition rejected');
        const object = await shared
          .client()
          .untilObject(
            `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`,
            (each) => conditionOf(each)?.reason === 'Rejected',
          );
        const condition = conditionOf(object, 'Accepted') ?? conditionOf(object);
        for (const found of [(diagnostics as readonly string[]).join('\n'), condition?.message]) {
          const shown = found?.split('\n').find((each) => each.includes('/wrong.yaml:')) ?? '';
          assert.match(shown, reason);
          const [, shownLine, shownColumn] = /wrong\.yaml:(\d+):(\d+): /.exec(shown) ?? [];
          assert.equal(Number(shownLine), line + 1, shown);
          // A place within an expression is that of the server.
          const offset = Number(shownColumn) - 1 - column;
          assert.ok(offset >= 0 && offset <= at.length, shown);
        }
        assert.match(conditionOf(object)?.message ?? '', reason);
        await homeostat.stop();
      });
});
