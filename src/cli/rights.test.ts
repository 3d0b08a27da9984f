import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseYamlDocuments } from '#definition';
import { thingDefinition } from '../../test/support/definitions.ts';
import { CliError } from './exit-code.ts';
import { type RightsOptions, rights } from './rights.ts';

const options: RightsOptions = { name: 'mine', serviceAccount: 'system/runner' };
const child = (kind: string) => `  children:
    - id: made
      template: { apiVersion: x.example.com/v1, kind: ${kind}, metadata: { name: a } }
`;

describe('cli/rights', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(text: string, changes: Partial<RightsOptions> = {}) {
    const file = join(folder, 'definition.yaml');
    writeFileSync(file, text);
    const said = { printed: '', errors: '' };
    const code = await rights(
      [file],
      { ...options, ...changes },
      {
        print: (line) => {
          said.printed += `${line}\n`;
        },
        error: (line) => {
          said.errors += `${line}\n`;
        },
        hasColor: false,
        isTerminal: false,
      },
    );
    return { code, ...said };
  }

  test('prints roles and bindings for the service account, and nothing else', async () => {
    const { code, printed, errors } = await run(thingDefinition('mine', ''));
    assert.equal(code, 0);
    assert.match(printed, /^apiVersion: rbac\S+\nkind: ClusterRole\nmetadata:\n {2}name: mine\n/);
    assert.match(printed, /kind: ServiceAccount, namespace: system, name: runner/);
    assert.equal(errors, '');
  });

  test('a definition that runs in member clusters needs its rights there, and not on the hub', async () => {
    const text = thingDefinition('far', '  controller: { clusters: { selector: all } }\n');
    const hub = await run(text);
    assert.doesNotMatch(hub.printed, /things/);
    assert.match(hub.errors, /note: "far" runs in member clusters; --members prints the rights/);
    const member = await run(text, { members: true });
    assert.match(member.printed, /far: its resources\n.*\n {4}resources: \["things"\]/);
    assert.match(member.printed, /resources: \["leases"\]/);
    assert.equal(member.errors, '');
    const none = await run(thingDefinition('near', ''), { members: true });
    assert.match(none.errors, /note: No definition runs in member clusters/);
  });

  test('the rights on objects that are placed in member clusters are printed for these only', async () => {
    const text = thingDefinition(
      'placing',
      `  reads:
    - { id: source, apiVersion: v1, kind: Service, name: source, cluster: paris }
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: all }
  children:
    - { id: near, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
    - { id: far, cluster: paris, template: { apiVersion: v1, kind: Secret, metadata: { name: a } } }
    - id: role
      cluster: paris
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: { name: a }
        rules: [{ apiGroups: [""], resources: [pods], verbs: [get] }]
`,
    );
    const hub = await run(text);
    assert.match(hub.errors, /note: "placing" places objects in member clusters; --members prints/);
    assert.doesNotMatch(hub.errors, /plural/);
    assert.match(hub.printed, /resources: \["configmaps"\]/);
    assert.match(hub.printed, /resources: \["clusters"\]\n {4}verbs: \["list", "watch"\]/);
    assert.doesNotMatch(hub.printed, /secrets|services|"roles"|pods/);
    const member = await run(text, { members: true });
    for (const each of ['secrets', 'services', 'roles', 'pods', 'namespaces'])
      assert.match(member.printed, new RegExp(`resources: \\["${each}"\\]`));
    assert.doesNotMatch(member.printed, /configmaps|leases|things|customresource|events/);
    assert.equal(member.errors, '');
  });

  test('what has to be looked at is not in the roles', async () => {
    const { code, printed, errors } = await run(thingDefinition('mine', child('Proxy')));
    assert.equal(code, 0);
    assert.match(errors, /note: The plural of "Proxy".* is assumed to be "proxies"/);
    assert.doesNotMatch(printed, /note/);
  });

  test('rights that are far-reaching are printed with a warning, beside the roles and in them', async () => {
    const role = `  children:
    - id: made
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: { name: a }
        rules: [{ apiGroups: [""], resources: ["*"], verbs: [get] }]
`;
    const { code, printed, errors } = await run(thingDefinition('mine', role));
    assert.equal(code, 0);
    const why = 'a wildcard also grants resources that are added later';
    const rule = '{ apiGroups: [""], resources: ["*"], verbs: ["get"] }';
    assert.equal(errors, `warning: mine: child "made" grants it: ${rule}: ${why}\n`);
    assert.ok(printed.includes(`  # WARNING: ${why}\n  - apiGroups: [""]\n`), printed);
    assert.ok(parseYamlDocuments(printed).length > 0);
  });

  test('writes them into a file', async () => {
    const out = join(folder, 'roles.yaml');
    const { printed } = await run(thingDefinition('mine', ''), { out });
    assert.equal(printed, '');
    assert.match(readFileSync(out, 'utf8'), /kind: ClusterRoleBinding/);
  });

  test('prints errors, and no roles', async () => {
    const { code, printed, errors } = await run(thingDefinition('mine', '  childen: []\n'));
    assert.equal(code, 1);
    assert.equal(printed, '');
    assert.match(errors, /childen/);
  });

  for (const [what, changes] of [
    ['a service account without a namespace', { serviceAccount: 'runner' }],
    ['a file in a folder that is not there', { out: join(folder, 'nowhere', 'roles.yaml') }],
  ] as const)
    test(`says what is wrong with ${what}`, async () => {
      await assert.rejects(run(thingDefinition('mine', ''), changes), CliError);
    });

  test('the reason why a file cannot be written is in words', async () => {
    const out = join(folder, 'nowhere', 'roles.yaml');
    await assert.rejects(run(thingDefinition('mine', ''), { out }), {
      message: `Cannot write "${out}": no such file or directory`,
    });
  });
});
