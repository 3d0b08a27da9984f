import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliError } from '#cli/exit-code.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { customKind, thingDefinition } from '../support/definitions.ts';
import { runCommand } from '../support/run-command.ts';
import { markedData, markerIn } from './support/secret-marker.ts';

const shared = useControlPlane({ controllerManager: false });

const read = (key: string) => `$base64decode(reads.source.data.${key})`;
const word = `"\${ ${read('word')} }"`;
const spoilt = `"\${ ${read('spoilt')} }"`;
const child = (template: string, more = '') => `  children:
    - id: b
${more}      template: { ${template} }
`;
const map = (metadata: string, more = '') =>
  child(`apiVersion: v1, kind: ConfigMap, metadata: { ${metadata} }`, more);

/** Definitions that take values of a Secret where they are objected to, or shown. */
const bodies: Readonly<Record<string, string>> = {
  'a field': child(
    `apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { word: ${word} }`,
  ),
  'a value of a wrong type': child(
    `apiVersion: apps/v1, kind: Deployment, metadata: { name: b }, spec: { replicas: ${word} }`,
  ),
  'a failed conversion': child(
    `apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { n: "\${ $string($number(${read('word')})) }" }`,
  ),
  'a message of the author': child(
    `apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { n: "\${ $error(${read('word')}) }" }`,
  ),
  'an invalid name': map(`name: ${spoilt}`),
  'a name': map(`name: ${word}`),
  'a namespace': map(
    `name: b, namespace: ${word}`,
    '      crossNamespace: { namespaces: ["nothing-*"] }\n',
  ),
  'a label that the server rejects': map(`name: b, labels: { x: ${spoilt} }`),
  'a key that the server rejects': child(
    `apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { ${spoilt}: x }`,
  ),
  'a key': child(`apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { ${word}: x }`),
  'a change of a live object': child(
    `apiVersion: v1, kind: ConfigMap, metadata: { name: "live" }, data: { word: ${word} }`,
    '      adopt: IfUnowned\n',
  ),
  'a patch': `  patches:
    - { id: p, target: { apiVersion: v1, kind: ConfigMap, name: live }, patch: { data: { word: ${word}, other: "\${ $string($number(${read('word')})) }" } } }
`,
  'a patch of an annotation': `  patches:
    - { id: p, target: { apiVersion: v1, kind: ConfigMap, name: live }, patch: { metadata: { annotations: { word: ${word} } } } }
`,
  'a status': `  children: []
  status: { word: ${word} }
`,
  'a Secret': child(
    `apiVersion: v1, kind: Secret, metadata: { name: b }, stringData: { word: ${word} }`,
  ),
};

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const properties = { spec: open, status: open };

shared.describe(
  'attacks/plan-secrets: author tools quote no value of a Secret of a cluster',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-plan-secrets-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const at = (name: string) => join(folder, name);
    let namespace = '';

    before(async () => {
      const client = shared.client();
      namespace = await shared.namespace();
      const metadata = { name: 'source', namespace };
      await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: markedData });
      await client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: { word: `old ${markedData.word}` },
        metadata: { name: 'live', namespace },
      });
    });

    for (const [index, [what, body]] of Object.entries(bodies).entries()) {
      const name = `planned${index}`;
      const run = (...args: readonly string[]) =>
        runCommand(...args, '--kubeconfig', shared.plane.kubeconfigPath()).catch(
          (error: unknown) => {
            assert.ok(error instanceof CliError, String(error));
            return error.message;
          },
        );

      test(what, async () => {
        const reads =
          '  reads:\n    - { id: source, apiVersion: v1, kind: Secret, name: source }\n';
        writeFileSync(at('thing.yaml'), thingDefinition(name, `${reads}${body}`));
        const crd = customKind({ group: `${name}.example.com`, kind: 'Thing', properties });
        const labels = { 'homeostat.dev/definition': name };
        await shared.client().installCrd({ ...crd, metadata: { ...crd.metadata, labels } });
        const resource = {
          apiVersion: `${name}.example.com/v1`,
          kind: 'Thing',
          metadata: { name: 'a', namespace },
          spec: {},
        };
        const status = { word: markedData.word };
        await shared.client().apply(what === 'a status' ? { ...resource, status } : resource);
        writeFileSync(at('resource.yaml'), JSON.stringify(resource));
        const type = `things.${name}.example.com/a`;
        const found: string[] = [];
        for (const args of [
          ['plan', at('thing.yaml')],
          ['plan', at('thing.yaml'), '-o', 'json'],
          ['plan', at('thing.yaml'), '-f', at('resource.yaml')],
          ['explain', at('thing.yaml'), type, '-n', namespace],
          ['explain', at('thing.yaml'), type, '-n', namespace, '-o', 'json'],
        ]) {
          const printed = await run(...args);
          assert.match(printed, /\ba\b|planned/);
          const quoted = markerIn(printed);
          if (quoted !== undefined) found.push(`${args.join(' ')}: ${quoted}`);
        }
        assert.deepEqual(found, []);
      });
    }
  },
);
