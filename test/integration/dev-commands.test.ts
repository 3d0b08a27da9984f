import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { printYaml } from '#definition';
import type { JsonObject } from '#util/json.ts';
import { launchNow } from '../support/control-plane/index.ts';
import { shippedText, textMap, thingDefinition } from '../support/definitions.ts';
import { DevProcess, runIn } from '../support/dev-process.ts';
import { homeostatCommand } from '../support/executable.ts';
import { patienceMs } from '../support/patience.ts';

let dev: DevProcess;

/** Runs a command that must succeed; gives its lines. */
async function lines(...args: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await dev.run(...args);
  assert.equal(code, 0, stderr);
  return stdout.trimEnd().split('\n');
}

/** Runs a command until its lines are as they should be. */
async function untilLines(
  args: readonly string[],
  isMet: (found: readonly string[]) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  for (let found = await lines(...args); !isMet(found); found = await lines(...args))
    if (performance.now() > deadlineMs) assert.fail(`${args.join(' ')}:\n${found.join('\n')}`);
}

interface PrintedPlans {
  readonly plans: readonly {
    readonly resources: readonly {
      readonly unresolved: readonly { readonly state: string; readonly message: string }[];
    }[];
  }[];
  readonly summary: { readonly failed: number };
}

function labelledMap(data: Readonly<Record<string, string>>): JsonObject {
  const labels = { 'homeostat.dev/definitions': 'true' };
  const metadata = { name: 'definitions', namespace: 'homeostat-system', labels };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

describe('integration/dev-commands', () => {
  before(async () => {
    dev = new DevProcess({
      files: {
        'podset.yaml': shippedText('podset.yaml'),
        'samples/podset.yaml': shippedText('samples/podset.yaml'),
      },
    });
    await dev.untilSaid(/PodSet default\/example: Ready/);
  });
  after(() => dev?.stop());

  test('get prints tables of the running dev, by any name of a kind', async () => {
    for (const name of ['podsets', 'ps', 'PodSet', 'podset.apps.example.com']) {
      const [header, row] = await lines('get', name);
      assert.match(header ?? '', /^NAME {6}READY {3}REASON {5}AGE$/);
      assert.match(row ?? '', /^example {3}True {4}AllReady {3}[\dms]+$/);
    }
    const both = await lines('get', 'ps,deploy', '-A');
    assert.match(
      both.join('\n'),
      /^NAMESPACE +NAME +READY.*\n^default +podset\.apps.*\n\nNAMESPACE/m,
    );
  });

  test('get --watch prints a row for each change until it is stopped', async () => {
    const [command, ...first] = homeostatCommand();
    let printed = '';
    const seen = new Set<() => void>();
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const check = () => pattern.test(printed) && resolve();
        seen.add(check);
        check();
      });
    const watching = launchNow({
      command,
      args: [...first, 'get', 'podset', 'example', '-w'],
      cwd: dev.folder,
      onOutput: (text) => {
        printed += text;
        for (const check of seen) check();
      },
      onErrors: () => {},
    });
    try {
      await until(/^NAME +READY +REASON +AGE\nexample +True +AllReady +[\dms]+\n/);
      dev.save(
        'more/podset.yaml',
        shippedText('samples/podset.yaml').replace(/size: \d/, 'size: 2'),
      );
      await lines('apply', '-f', 'operators/more/podset.yaml', '--force-conflicts');
      await until(/AllReady +[\dms]+\n(?:.*\n)*example +\w+ +\w+ +[\dms]+\n/);
    } finally {
      await watching.stop(patienceMs);
    }
    dev.save('more/podset.yaml', shippedText('samples/podset.yaml'));
    await lines('apply', '-f', 'operators/more/podset.yaml', '--force-conflicts');
    dev.remove('more/podset.yaml');
    // Other tests find it ready.
    await untilLines(['tree', 'podset', 'example'], (found) =>
      found.some((line) => line.includes('3/3 ready')),
    );
    const { code, stderr } = await dev.run('get', 'podset,deploy', '-w');
    assert.deepEqual([code, stderr.includes('Expected one kind with --watch')], [2, true]);
  });

  test('get shows objects as YAML, JSON and names, without managedFields', async () => {
    const [object] = JSON.parse(
      `[${(await lines('get', 'podset', 'example', '-o', 'json')).join('')}]`,
    );
    assert.deepEqual([object.spec, object.metadata.managedFields], [{ size: 3 }, undefined]);
    assert.ok((await lines('get', 'podset', 'example', '-o', 'yaml')).includes('  size: 3'));
    assert.deepEqual(await lines('get', 'deploy', '-o', 'name'), ['deployment.apps/example']);
    const none = await dev.run('get', 'pods', '-l', 'app=none');
    assert.deepEqual([none.code, none.stdout], [0, '']);
    assert.match(none.stderr, /No resources found in namespace "default"/);
    const everywhere = await dev.run('get', 'namespaces', '-l', 'app=none');
    assert.equal(everywhere.stderr.trim(), 'No resources found');
  });

  test('objects have short titles: kind/name', async () => {
    assert.deepEqual(await lines('get', 'podset/example', 'deploy/example', '-o', 'name'), [
      'podset.apps.example.com/example',
      'deployment.apps/example',
    ]);
    assert.ok((await lines('describe', 'deploy/example')).includes('Tree:'));
    const mixed = await dev.run('delete', 'podset/example', 'example');
    assert.equal(mixed.code, 2);
    assert.match(mixed.stderr, /Expected TYPE\/NAME, found "example"/);
  });

  test('tree shows what belongs to what', async () => {
    const tree = await lines('tree', 'podset', 'example');
    assert.match(tree[0] ?? '', /^PodSet default\/example {2,}Ready$/);
    assert.match(tree[1] ?? '', /^└─ Deployment example {2,}3\/3 ready$/);
    assert.equal(tree.filter((line) => line.includes('Pod example-')).length, 3);
    assert.deepEqual(await lines('tree'), tree);
    assert.deepEqual(await lines('tree', 'podset/example'), tree);
    assert.match((await lines('tree', 'deploy'))[0] ?? '', /^Deployment default\/example /);
  });

  test('describe prints conditions, data, and what belongs to it', async () => {
    const text = (await lines('describe', 'podset', 'example')).join('\n');
    assert.match(text, /^Name: +example$/m);
    assert.match(text, /^Conditions:\n {2}TYPE +STATUS +REASON/m);
    assert.match(text, /^ {4}size: 3$/m);
    assert.match(text, /^Tree:\n {2}PodSet/m);
  });

  test('describe prints of a Secret how long its values are, not what they are', async () => {
    const manifest =
      'apiVersion: v1\nkind: Secret\nmetadata: { name: key }\nstringData: { a: four }\n';
    dev.save('more/secret.yaml', manifest);
    await lines('apply', '-f', 'operators/more/secret.yaml');
    const text = (await lines('describe', 'secret/key')).join('\n');
    assert.match(text, /^ {4}a: 4 bytes$/m);
    assert.equal(text.includes(btoa('four')), false);
    await lines('delete', '-f', 'operators/more/secret.yaml');
    dev.remove('more/secret.yaml');
  });

  test('plan prints what a definition or a resource would change; its exit code says whether there is something', async () => {
    const unchanged = await dev.run('plan', 'operators');
    assert.deepEqual([unchanged.code, unchanged.stderr], [0, '']);
    assert.match(
      unchanged.stdout,
      /"podset" \(revision \w+\): no changes\n\n1 resource: 0 created/,
    );
    writeFileSync(
      join(dev.folder, 'next.yaml'),
      shippedText('podset.yaml').replace('image: busybox', 'image: busybox:2'),
    );
    const image = 'spec.template.spec.containers[name=podset].image';
    const changed = await dev.run('diff', 'next.yaml');
    assert.equal(changed.code, 2, changed.stderr);
    assert.ok(changed.stdout.includes(`~ ${image}: busybox -> busybox:2`), changed.stdout);
    const json = await dev.run('plan', 'next.yaml', '-o', 'json');
    const { plans, summary } = JSON.parse(json.stdout) as JsonObject & {
      readonly plans: readonly { readonly resources: readonly unknown[] }[];
    };
    assert.equal(plans[0]?.resources.length, 1);
    assert.equal((summary as JsonObject).changed, 1);
    const sample = shippedText('samples/podset.yaml').replace('size: 3', 'size: 5');
    writeFileSync(join(dev.folder, 'sample.yaml'), sample);
    const resource = await dev.run('plan', 'operators', '-f', 'sample.yaml');
    assert.match(resource.stdout, /~ spec\.replicas: 3 -> 5/);
    const other = (text: string) => text.replaceAll('apps.example.com', 'new.example.com');
    writeFileSync(join(dev.folder, 'new.yaml'), other(shippedText('podset.yaml')));
    const named = other(sample).replace('name: example', 'name: other');
    writeFileSync(join(dev.folder, 'new-sample.yaml'), named);
    const ofNewKind = await dev.run('plan', 'new.yaml', '-f', 'new-sample.yaml');
    assert.equal(ofNewKind.code, 2, ofNewKind.stderr);
    assert.match(ofNewKind.stdout, /\+ CustomResourceDefinition podsets\.new\.example\.com/);
    assert.match(ofNewKind.stdout, /\+ Deployment default\/other\n[\s\S]*\+ +replicas: 5\n/);
    writeFileSync(
      join(dev.folder, 'wrong-sample.yaml'),
      other(sample).replace('size: 5', 'sise: 5'),
    );
    const wrong = await dev.run('plan', 'new.yaml', '-f', 'wrong-sample.yaml');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /wrong-sample\.yaml:\d+:\d+: error\[unknown-field\]/);
    const unknown = await dev.run('plan', 'operators', '-f', 'new-sample.yaml');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /does not serve "PodSet" of "new\.example\.com\//);
    writeFileSync(
      join(dev.folder, 'broken.yaml'),
      shippedText('podset.yaml').replace('spec.size', 'spec.sise'),
    );
    const broken = await dev.run('plan', 'broken.yaml');
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /broken\.yaml:\d+:\d+: error/);
    writeFileSync(
      join(dev.folder, 'rejected.yaml'),
      shippedText('podset.yaml').replace('image: busybox', 'image: ""'),
    );
    const rejected = await dev.run('plan', 'rejected.yaml', '-o', 'json');
    assert.equal(rejected.code, 1, rejected.stdout);
    const found = JSON.parse(rejected.stdout) as PrintedPlans;
    assert.equal(found.summary.failed, 1);
    const [child] = found.plans[0]?.resources[0]?.unresolved ?? [];
    assert.equal(child?.state, 'Failed');
    assert.match(child?.message ?? '', /containers\[0\]\.image: Required value/);
    const printed = await dev.run('plan', 'rejected.yaml');
    assert.equal(printed.code, 1);
    assert.match(printed.stdout, /child "deployment" \(line \d+\) fails: .*; 1 failed\n$/s);
    const saved = await dev.run('plan', 'operators', '--against', 'next.yaml');
    assert.equal(saved.code, 1);
    assert.match(saved.stderr, /"next\.yaml" is not a saved cluster: .*\n +hint: Save one with/);
  });

  test('wrong use of plan is exit code 1: 2 means changes', async () => {
    writeFileSync(join(dev.folder, 'empty.yaml'), '');
    for (const [args, message] of [
      [['plan', 'operators', '-o', 'yaml'], /argument 'yaml' is invalid/],
      [['diff'], /missing required argument 'path'/],
      [['plan', 'empty.yaml'], /There is no definition in empty\.yaml/],
      [['plan', 'operators', '-n', 'default'], /"--namespace" needs "-f"/],
      [
        ['plan', 'operators', '--against', 'a.json', '--context', 'a'],
        /cannot be used with option/,
      ],
    ] as const) {
      const { code, stderr } = await dev.run(...args);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, message);
    }
  });

  test('apply creates and changes, delete deletes, and events are reported', async () => {
    const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\ndata: { a: b }\n---
apiVersion: v1\nkind: Event\nmetadata: { name: told }\nreason: Tried\nmessage: a try\ntype: Normal
involvedObject: { kind: ConfigMap, name: one, namespace: default, apiVersion: v1 }\n`;
    dev.save('more/one.yaml', manifest);
    const file = 'operators/more/one.yaml';
    assert.deepEqual(await lines('apply', '-f', file), [
      'configmap/one created',
      'event/told created',
    ]);
    assert.deepEqual(await lines('apply', '-f', 'operators/more'), [
      'configmap/one applied',
      'event/told applied',
    ]);
    const [header, event] = await lines('events', '--for', 'cm/one');
    assert.match(header ?? '', /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/);
    assert.match(event ?? '', /Normal +Tried +ConfigMap\/one +a try$/);
    assert.deepEqual(await lines('delete', 'cm', 'one'), ['configmap/one deleted']);
    const [, afterDeletion] = await lines('events', '--for', 'cm/one');
    assert.match(afterDeletion ?? '', /ConfigMap\/one +a try$/);
    const again = await dev.run('delete', 'cm', 'one');
    assert.equal(again.code, 2);
    assert.match(again.stderr, /configmaps "one" not found/);
    assert.deepEqual(await lines('delete', '-f', file, '--ignore-not-found'), [
      'event/told deleted',
    ]);
  });

  test('events of an object are also those of the objects below it', async () => {
    const event = (name: string, about: string) => `apiVersion: v1
kind: Event
metadata: { name: ${name} }
reason: Tried
message: ${name}
type: Normal
involvedObject: { ${about}, namespace: default }
`;
    dev.save(
      'more/events.yaml',
      [
        event('of-a-child', 'kind: Deployment, name: example, apiVersion: apps/v1'),
        event('of-another', 'kind: Deployment, name: other, apiVersion: apps/v1'),
      ].join('---\n'),
    );
    await lines('apply', '-f', 'operators/more/events.yaml');
    const found = (await lines('events', '--for', 'podset/example', '--children')).join('\n');
    assert.match(found, /Tried +Deployment\/example +of-a-child/);
    assert.doesNotMatch(found, /of-another/);
    await lines('delete', '-f', 'operators/more/events.yaml');
  });

  test('definitions are objects: those of the folder, of a ConfigMap and of a user are shown, with their Events', async () => {
    const definition = (name: string, text: string) =>
      thingDefinition(name, `  children:${textMap('copy', text)}\n`);
    dev.save('more/object.yaml', definition('applied', '"${ spec.text }"'));
    const data = { 'a.yaml': definition('mapped', '"${ spec.text }"') };
    dev.save('more/map.yaml', printYaml(labelledMap(data)));
    await lines('apply', '-f', 'operators/more/map.yaml');
    await lines('apply', '-f', 'operators/more/object.yaml');
    const untilRow = (name: string, pattern: RegExp) =>
      untilLines(['get', 'operatordefinitions', '-o', 'wide'], (found) =>
        found.some((line) => line.startsWith(name) && pattern.test(line)),
      );
    await untilRow('podset', /True +Running +PodSet .* directory /);
    await untilRow('mapped', /True +Running +Thing .* configmap homeostat-system\/definitions/);
    await untilRow('applied', /True +Running +Thing .* object$/);
    const wrong = { 'a.yaml': definition('mapped', '"${ spec.text + }"') };
    dev.save('more/map.yaml', printYaml(labelledMap(wrong)));
    await lines('apply', '-f', 'operators/more/map.yaml');
    await untilLines(['events', '-n', 'homeostat-system'], (found) =>
      found.some((line) => /Warning +\w+ +ConfigMap\/definitions .*expected/i.test(line)),
    );
    await untilRow('mapped', /False +Rejected +Thing/);
    await lines('delete', '-f', 'operators/more/map.yaml');
    await lines('delete', 'operatordefinition', 'applied');
    dev.remove('more/map.yaml');
    dev.remove('more/object.yaml');
  });

  for (const [args, problem] of [
    [['get', 'podsetz'], /does not serve "podsetz"\n {2}hint: Did you mean "podsets"\?/],
    [['delete'], /Expected "TYPE NAME\.\.\." or "-f FILE"/],
    [['delete', 'pods'], /Expected the names/],
    [['apply', '-f', 'missing.yaml'], /Cannot read "missing\.yaml"/],
    [['events', '--for', 'one'], /does not serve "one"/],
    [['events', '--children'], /"--children" needs "--for"/],
    [['get', 'pods', '-o', 'table'], /Allowed choices are wide, yaml, json, name/],
  ] as const) {
    test(`"${args.join(' ')}" is explained`, async () => {
      const { code, stderr } = await dev.run(...args);
      assert.equal(code, 2);
      assert.match(stderr, problem);
      assert.doesNotMatch(stderr, / at .*\.ts/);
    });
  }

  for (const [what, manifest, problem] of [
    [
      'that is in no namespace',
      'metadata: { name: told, namespace: nowhere }',
      /configmap\/told was rejected: namespaces "nowhere" not found/,
    ],
    [
      "of which a field is another manager's",
      'metadata: { name: kube-root-ca.crt }\ndata: { ca.crt: ours }',
      /configmap\/kube-root-ca\.crt was rejected: .*\n {2}hint: Take the fields over with --force-conflicts/s,
    ],
  ] as const) {
    test(`of several objects the one ${what} is reported`, async () => {
      const first = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: fine }\n---\n';
      dev.save('rejected/both.yaml', `${first}apiVersion: v1\nkind: ConfigMap\n${manifest}\n`);
      const { code, stdout, stderr } = await dev.run('apply', '-f', 'operators/rejected/both.yaml');
      assert.equal(code, 2);
      assert.match(stdout, /^configmap\/fine (?:created|applied)\n$/);
      assert.match(stderr, problem);
    });
  }

  test('explain prints why the children of a live resource are as they are', async () => {
    const found = await lines('explain', 'operators/podset.yaml', 'podset/example');
    assert.deepEqual(found.slice(0, 6), [
      'PodSet default/example (apps.example.com/v1alpha1), definition "podset"',
      'Ready is "True", reason AllReady: All children are ready',
      '',
      '  1. deployment: Deployment "example": ready',
      '       metadata.name (line 56): ${ metadata.name }',
      '           metadata.name = "example"',
    ]);
    const { code, stderr } = await dev.run('explain', 'operators/podset.yaml', 'podset/missing');
    assert.equal(code, 2);
    assert.match(stderr, /Definition "podset" serves no PodSet "podset\/missing"/);
    const flags = ['--kubeconfig', dev.kubeconfig];
    assert.match((await lines('explain', 'ps.spec.size', ...flags)).join('\n'), /FIELD: size/);
  });

  test('without a running dev no server is asked, whatever kubeconfig there is in the home', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-none-'));
    mkdirSync(join(folder, '.kube'));
    writeFileSync(join(folder, '.kube', 'config'), '');
    try {
      const env = { HOME: folder, KUBECONFIG: '' };
      const { code, stderr } = await runIn(folder, ['get', 'pods'], env);
      assert.equal(code, 2);
      assert.match(stderr, /no "homeostat dev" runs in this folder/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
