import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fuzzDefinitions } from '#cli/commands/fuzz.ts';
import { init } from '#cli/commands/init.ts';
import { render } from '#cli/commands/render.ts';
import { test as runTests } from '#cli/commands/test.ts';
import { CliError } from '#cli/exit-code.ts';
import type { Output } from '#cli/output.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-authoring-'));
after(() => rmSync(folder, { recursive: true }));

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

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('homeostat test', () => {
  for (const shipped of ['operators', 'operators/clusters', 'operators/http'])
    test(`the tests of all operators in ${shipped} pass, and cover all of them`, async () => {
      const { lines, errors, output } = recordOutput();
      const code = await runTests([`${shipped}/tests`], { minCoverage: 100 }, output);
      assert.deepEqual([code, errors], [0, []], lines.join('\n'));
      const definitions = readdirSync(shipped).filter((file) => file.endsWith('.yaml'));
      for (const file of definitions)
        assert.ok(
          lines.some((line) => /: (\d+) of \1 \(100 %\)$/.test(line) && line.includes(file)),
          file,
        );
    });

  test('too little coverage is exit code 1; gaps are listed with their place', async () => {
    const { lines, errors, output } = recordOutput();
    const options = { coverage: 'text', minCoverage: 99.5, filter: 'kept-claims' } as const;
    assert.equal(await runTests(['operators/tests'], options, output), 1);
    assert.match(lines.join('\n'), /1 passed, 0 failed\nCoverage: \d+ of \d+ \(\d+(\.\d)? %\)\n/);
    assert.match(
      lines.join('\n'),
      /^ {2}operators\/database\.yaml:\d+:\d+: the result is never true$/m,
    );
    assert.match(errors.join('\n'), /^Expected a coverage of at least 99\.5 %, found \d+/);
  });

  for (const [format, expected] of [
    ['lcov', /^TN:\nSF:operators\/podset\.yaml\nDA:/],
    ['html', /^<!doctype html>[\s\S]*<h2>operators\/podset\.yaml: 100 %<\/h2>/],
    ['text', /^Coverage: (\d+) of \1 \(100 %\)\n/],
  ] as const) {
    test(`--coverage ${format} writes a file`, async () => {
      const { lines, output } = recordOutput();
      const coverageOutput = join(folder, `coverage.${format}`);
      const options = { coverage: format, coverageOutput };
      assert.equal(await runTests(['operators/tests/podset.yaml'], options, output), 0);
      assert.equal(lines.at(-1), `Coverage: 100 %, written to ${coverageOutput}`);
      assert.match(readFileSync(coverageOutput, 'utf8'), expected);
    });
  }

  test('a failure is exit code 1, and is in the JUnit report', async () => {
    const { lines, output } = recordOutput();
    const text = readFileSync('operators/tests/podset.yaml', 'utf8');
    const wrong = text
      .replace('replicas: 3', 'replicas: 4')
      .replaceAll('../', `${process.cwd()}/operators/`);
    const path = fileOf(
      'podset.yaml',
      wrong.replaceAll(`${process.cwd()}/`, `${'../'.repeat(9)}${process.cwd().slice(1)}/`),
    );
    const junit = join(folder, 'junit.xml');
    assert.equal(await runTests([path], { junit }, output), 1);
    assert.deepEqual(lines.slice(3), [
      '      spec.replicas',
      '        - expected: 4',
      '        + found: 3',
      '1 test: 0 passed, 1 failed',
    ]);
    const xml = readFileSync(junit, 'utf8');
    assert.match(xml, /<testsuites tests="1" failures="1" errors="0" skipped="0">/);
    assert.match(xml, /<failure message="Deployment &quot;example&quot; is not as expected">/);
  });

  test('a test with errors has failed, also in the JUnit report; the other tests run', async () => {
    const { lines, errors, output } = recordOutput();
    const text = readFileSync('operators/tests/podset.yaml', 'utf8');
    const path = fileOf('mistake.yaml', text.replace('expect:', 'expects:'));
    const noYaml = fileOf('syntax.yaml', `${text}  - [`);
    const junit = join(folder, 'mistakes.xml');
    const paths = [path, noYaml, 'operators/tests/podset.yaml'];
    assert.equal(await runTests(paths, { junit }, output), 1);
    const message = `${path}:10:7: Unknown field "expects"`;
    assert.equal(lines[0], `FAIL ${path}: podset`);
    assert.ok(lines[1]?.startsWith(`    ${message}. `), lines[1]);
    assert.match(
      lines.join('\n'),
      /FAIL .*syntax\.yaml: podset\n[\s\S]*3 tests: 1 passed, 2 failed/,
    );
    assert.match(errors.join('\n'), /mistake\.yaml:10:7[\s\S]*Unknown field "expects"/);
    assert.ok(readFileSync(junit, 'utf8').includes(message.replaceAll('"', '&quot;')));
  });

  test('--update writes found values into the expectations that fail, of all steps, and nothing else', async () => {
    const { lines, errors, output } = recordOutput();
    const text = readFileSync('operators/tests/podset.yaml', 'utf8');
    const here = text.replaceAll('../', `${'../'.repeat(9)}${process.cwd().slice(1)}/operators/`);
    const wrong = here.replaceAll(/(object: .* replicas: )\d/g, '$177');
    assert.notEqual(wrong, here);
    const path = fileOf('update.yaml', wrong);
    assert.equal(await runTests([path], { update: true }, output), 0, lines.join('\n'));
    assert.deepEqual(errors, []);
    assert.equal(readFileSync(path, 'utf8'), here);
    assert.equal(await runTests([path], {}, output), 0);
  });

  test('--update changes nothing where nothing can be updated', async () => {
    const { output } = recordOutput();
    const text = readFileSync('operators/tests/podset.yaml', 'utf8')
      .replaceAll('../', `${'../'.repeat(9)}${process.cwd().slice(1)}/operators/`)
      .replace(/replicas: \d/, 'replicas: { $gt: 100 }');
    const path = fileOf('matcher.yaml', text);
    assert.equal(await runTests([path], { update: true }, output), 1);
    assert.equal(readFileSync(path, 'utf8'), text);
  });

  for (const [what, paths, filter, message] of [
    [
      'a folder without a test',
      ['operators/samples'],
      undefined,
      'There is no test in operators/samples',
    ],
    ['a name that no test has', ['operators/tests'], 'zzz', 'No test has a name with "zzz"'],
    ['a file that is missing', ['missing.yaml'], undefined, 'Cannot read "missing.yaml"'],
  ] as const) {
    test(`${what} is an error`, async () => {
      const options = filter === undefined ? {} : { filter };
      await assert.rejects(runTests(paths, options, recordOutput().output), (error) => {
        assert.ok(error instanceof CliError);
        assert.ok(error.message.startsWith(message), error.message);
        return true;
      });
    });
  }
});

describe('homeostat render', () => {
  const flags = { output: 'yaml', simulate: true } as const;

  test('prints the objects in the order of their creation, and what each waits for', async () => {
    const { lines, errors, output } = recordOutput();
    const resource = 'operators/samples/web-app.yaml';
    assert.equal(await render('operators/web-app.yaml', resource, flags, output), 0);
    assert.deepEqual(errors, []);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('#')),
      [
        '# child "config" (1 of 5); ready when it is a ready ConfigMap',
        '# child "service" (3 of 5); ready when it is a ready Service',
        '# child "ingress" (4 of 5); ready when it is a ready Ingress',
        '# child "deployment" (2 of 5), after "config"; ready when it is a ready Deployment',
        '# child "autoscaler": nothing is created',
      ],
    );
  });

  test('prints JSON', async () => {
    const { lines, output } = recordOutput();
    const resource = 'operators/samples/podset.yaml';
    const code = await render(
      'operators/podset.yaml',
      resource,
      { ...flags, output: 'json' },
      output,
    );
    const { children, missing, status } = JSON.parse(lines.join('\n'));
    assert.deepEqual([code, missing, status.readyReplicas], [0, [], 3]);
    assert.deepEqual(
      children.map((each: { child: string; manifest: { spec: { replicas: number } } }) => [
        each.child,
        each.manifest.spec.replicas,
      ]),
      [['deployment', 3]],
    );
  });

  test('what waits for an object says so, and is rendered when the object is given', async () => {
    const resource = fileOf(
      'copy.yaml',
      [
        'apiVersion: config.example.com/v1alpha1',
        'kind: ConfigCopy',
        'metadata: { name: example }',
        'spec: { source: greeting, group: example }',
      ].join('\n'),
    );
    const namespace = fileOf(
      'namespace.yaml',
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: red, labels: { config.example.com/group: example } }',
    );
    const source = fileOf(
      'source.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: greeting }\ndata: { greeting: hello }',
    );
    const definition = 'operators/config-copy.yaml';
    const waiting = recordOutput();
    const without = { ...flags, with: [namespace] };
    assert.equal(await render(definition, resource, without, waiting.output), 1);
    assert.match(
      waiting.lines.join('\n'),
      /^# child "copy": nothing is created\n# operators\/config-copy\.yaml: Ready is "False", reason Waiting/,
    );
    const rendered = recordOutput();
    const complete = { ...flags, with: [namespace, source] };
    assert.equal(await render(definition, resource, complete, rendered.output), 0);
    assert.match(
      rendered.lines.join('\n'),
      /greeting: hello[\s\S]*namespace: red|namespace: red[\s\S]*greeting: hello/,
    );
  });

  test('the other objects of the file of a resource exist before', async () => {
    const copy = (name: string) =>
      `{ apiVersion: config.example.com/v1alpha1, kind: ConfigCopy, metadata: { name: ${name} }, spec: { source: greeting, group: example } }\n`;
    const others = [
      '{ apiVersion: v1, kind: Namespace, metadata: { name: red, labels: { config.example.com/group: example } } }\n',
      '{ apiVersion: v1, kind: ConfigMap, metadata: { name: greeting }, data: { greeting: hello } }\n',
    ];
    const definition = 'operators/config-copy.yaml';
    const one = fileOf('one.yaml', [others[0], copy('example'), others[1]].join('---\n'));
    const rendered = recordOutput();
    assert.equal(await render(definition, one, flags, rendered.output), 0);
    assert.match(rendered.lines.join('\n'), /greeting: hello/);
    for (const [name, texts, found] of [
      ['none.yaml', others, 0],
      ['two.yaml', [copy('a'), copy('b')], 2],
    ] as const)
      await assert.rejects(
        render(definition, fileOf(name, texts.join('---\n')), flags, rendered.output),
        new RegExp(`Expected one resource in ".*${name}", found ${found}`),
      );
  });

  test('a resource of a kind that no definition serves is an error', async () => {
    const { lines, output } = recordOutput();
    const code = await render(
      'operators/podset.yaml',
      'operators/samples/tenant.yaml',
      flags,
      output,
    );
    assert.deepEqual(
      [code, lines],
      [
        1,
        [
          '# operators/podset.yaml: No definition serves kind "Tenant" (platform.example.com/v1alpha1), only PodSet',
        ],
      ],
    );
  });

  test('the member cluster of each object is in its comment', async () => {
    const definition = 'operators/clusters/node-agent.yaml';
    const sample = 'operators/clusters/samples/node-agent.yaml';
    const member = (name: string) =>
      `{ apiVersion: homeostat.dev/v1alpha1, kind: Cluster, metadata: { name: ${name}, labels: { agents: "true" } } }`;
    const members = fileOf('members.yaml', `${member('paris')}\n---\n${member('oslo')}\n`);
    const given = recordOutput();
    assert.equal(
      await render(definition, sample, { ...flags, with: [members] }, given.output),
      0,
      given.errors.join('\n'),
    );
    const comments = given.lines.filter((line) => line.startsWith('#'));
    assert.deepEqual(
      comments.map((line) => line.replace(/;.*/, '')),
      [
        '# child "config" (1 of 2) in cluster "oslo"',
        '# child "config" (1 of 2) in cluster "paris"',
        '# child "agent" (2 of 2) in cluster "oslo", after "config"',
        '# child "agent" (2 of 2) in cluster "paris", after "config"',
      ],
    );
    const none = recordOutput();
    assert.equal(await render(definition, sample, flags, none.output), 0);
    assert.match(
      none.lines.join('\n'),
      /There is no member cluster: give Cluster objects with --with/,
    );
  });

  test('a kind without its CRD is an error', async () => {
    const { lines, output } = recordOutput();
    const resource = fileOf(
      'vgpu.yaml',
      '{ apiVersion: gpu.example.com/v1beta1, kind: VGPUInstance, metadata: { name: a } }',
    );
    const definition = 'operators/clusters/vgpu-instance.yaml';
    assert.equal(await render(definition, resource, flags, output), 1);
    assert.match(
      lines.join('\n'),
      /does not serve "VGPUInstance" .* its CustomResourceDefinition is missing/,
    );
  });

  test('errors in a definition are printed', async () => {
    const { errors, output } = recordOutput();
    const text = readFileSync('operators/podset.yaml', 'utf8').replace('spec.size', 'spec.sise');
    const definition = fileOf('broken.yaml', text);
    assert.equal(await render(definition, 'operators/samples/podset.yaml', flags, output), 1);
    assert.match(errors.join('\n'), /sise/);
  });
});

describe('homeostat init', () => {
  const flags = { group: 'apps.example.com' };

  test('writes a definition, a sample and a test that passes', async () => {
    const { lines, errors, output } = recordOutput();
    const dir = join(folder, 'starter');
    assert.equal(await init('web-app', dir, flags, output), 0);
    assert.deepEqual(
      lines.slice(0, 3),
      ['web-app.yaml', 'samples/web-app.yaml', 'tests/web-app.yaml'].map(
        (file) => `Created ${join(dir, file)}`,
      ),
    );
    const tested = recordOutput();
    assert.equal(await runTests([dir], {}, tested.output), 0, tested.lines.join('\n'));
    assert.deepEqual([errors, tested.errors], [[], []]);
    assert.match(readFileSync(join(dir, 'web-app.yaml'), 'utf8'), /kind: WebApp, plural: webapps/);
  });

  test('an existing file is kept, and no other file is written', async () => {
    const { output } = recordOutput();
    const dir = join(folder, 'existing');
    await init('shop', dir, flags, output);
    rmSync(join(dir, 'shop.yaml'));
    writeFileSync(join(dir, 'tests/shop.yaml'), 'mine');
    await assert.rejects(init('shop', dir, flags, output), {
      message: /samples\/shop\.yaml" exists already/,
    });
    assert.equal(existsSync(join(dir, 'shop.yaml')), false);
    assert.equal(readFileSync(join(dir, 'tests/shop.yaml'), 'utf8'), 'mine');
  });

  for (const [name, given, message] of [
    ['WebApp', flags, /name of lowercase letters, digits and "-", found "WebApp"/],
    ['a', { group: 'example' }, /API group such as "apps\.example\.com", found "example"/],
    ['a', { ...flags, parameter: ['spec.a=B/c:d'] }, /"--parameter" needs "--from"/],
  ] as const)
    test(`is rejected: ${message.source}`, async () => {
      const dir = join(folder, 'rejected');
      await assert.rejects(init(name, dir, given, recordOutput().output), { message });
      assert.equal(existsSync(dir), false);
    });

  const manifests = `apiVersion: v1
kind: ServiceAccount
metadata: { name: web, labels: { app: web, app.kubernetes.io/managed-by: Helm } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, uid: u, creationTimestamp: null }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web }, creationTimestamp: null }
    spec:
      serviceAccountName: web
      containers: [{ name: web, image: "web:1", env: [{ name: PATTERN, value: "\${HOME}/x" }] }]
status: { replicas: 3 }
---
apiVersion: v1
kind: Service
metadata: { name: web-http }
spec: { clusterIP: 10.0.0.7, selector: { app: web }, ports: [{ port: 80 }] }
`;

  test('--from converts manifests: the definition creates them, and a parameter changes them', async () => {
    const { lines, errors, output } = recordOutput();
    const dir = join(folder, 'converted');
    const from = [fileOf('manifests.yaml', manifests)];
    const parameter = [
      'spec.replicas=Deployment/web:spec.replicas',
      'spec.image=Deployment/web:spec.template.spec.containers[name=web].image',
    ];
    assert.equal(await init('web', dir, { ...flags, from, parameter }, output), 0);
    assert.deepEqual(errors, []);
    assert.ok(lines.includes('The definition creates the same 3 objects as the manifests'));
    const tested = recordOutput();
    assert.equal(await runTests([dir], {}, tested.output), 0, tested.lines.join('\n'));
    const definition = readFileSync(join(dir, 'web.yaml'), 'utf8');
    const resource = fileOf(
      'other.yaml',
      'apiVersion: apps.example.com/v1alpha1\nkind: Web\nmetadata: { name: other }\nspec: { replicas: 7 }\n',
    );
    assert.doesNotMatch(definition, /status: \{ replicas|clusterIP|Helm|uid/);
    const rendered = recordOutput();
    await render(
      join(dir, 'web.yaml'),
      resource,
      { output: 'yaml', simulate: true },
      rendered.output,
    );
    const text = rendered.lines.join('\n');
    assert.match(text, /name: other-http/);
    assert.match(text, /serviceAccountName: other/);
    assert.match(text, /replicas: 7/);
    assert.match(text, /image: web:1/);
    assert.match(text, /value: \$\{HOME\}\/x/);
  });

  test('--from warns about the values of Secrets, without printing them', async () => {
    const { lines, errors, output } = recordOutput();
    const secret = `apiVersion: v1
kind: Secret
metadata: { name: web-db }
data:
  password: c2VjcmV0
stringData: { user: admin }
`;
    const from = [fileOf('secret.yaml', secret)];
    const dir = join(folder, 'with-secret');
    assert.equal(await init('web-db', dir, { ...flags, from }, output), 0, lines.join('\n'));
    const [password = '', user = '', hint = '', ...others] = errors;
    assert.match(
      password,
      /^Warning: .*secret\.yaml:5:3: The definition contains the value of "password" in Secret "web-db"$/,
    );
    assert.match(user, /secret\.yaml:6:15: .* "user" in Secret "web-db"$/);
    assert.match(hint, /Do not commit it: read an existing Secret/);
    assert.deepEqual(others, []);
    assert.doesNotMatch([...lines, ...errors].join('\n'), /c2VjcmV0|admin/);
  });

  for (const [parameter, message] of [
    ['replicas=Deployment/web:spec.replicas', /Expected a parameter such as/],
    ['spec.a=Deployment/api:spec.replicas', /There is no Deployment "api" in the manifests/],
    ['spec.a=Deployment/web:spec.paused', /Deployment "web" has no field "spec\.paused"/],
  ] as const)
    test(`the parameter "${parameter}" is rejected, and no file is written`, async () => {
      const dir = join(folder, 'wrong-parameter');
      const from = [fileOf('manifests.yaml', manifests)];
      const options = { ...flags, from, parameter: [parameter] };
      await assert.rejects(init('web', dir, options, recordOutput().output), { message });
      assert.equal(existsSync(dir), false);
    });
});

describe('homeostat test --fuzz', () => {
  const flags = { fuzz: 1, seed: 1 };

  test('all shipped operators pass', async () => {
    const { lines, errors, output } = recordOutput();
    assert.equal(
      await fuzzDefinitions(['operators'], { fuzz: 2, seed: 3 }, output),
      0,
      lines.join('\n'),
    );
    assert.deepEqual(errors, []);
    assert.ok(lines.length > 5);
    assert.match(lines.join('\n'), /^(?:PASS [-a-z]+: \d histor.+\n?)+$/);
  });

  test('a failure prints the test that shows it', async () => {
    const { lines, output } = recordOutput();
    const text = readFileSync('operators/podset.yaml', 'utf8').replaceAll(' ?? 0', '');
    const path = fileOf('missing.yaml', text);
    assert.equal(await fuzzDefinitions([path], { fuzz: 30, seed: 2 }, output), 1);
    const printed = lines.join('\n');
    assert.match(
      printed,
      /^FAIL podset: The status has no ".+", though child "deployment" exists\n/,
    );
    assert.match(printed, /--seed 2 finds it again[\s\S]*kind: OperatorTest[\s\S]*size: 0/);
  });

  test('OperatorFuzz limits the values; one with an error is printed, and nothing runs', async () => {
    const dir = join(folder, 'fuzz');
    await init('shop', dir, { group: 'apps.example.com' }, recordOutput().output);
    const limits = (values: string) => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorFuzz
metadata: { name: shop }
spec: { definition: shop, ${values} }
`;
    writeFileSync(join(dir, 'tests/fuzz.yaml'), limits('values: { /spec/port: [0] }'));
    const rejected = recordOutput();
    assert.equal(await fuzzDefinitions([dir], { fuzz: 8, seed: 1 }, rejected.output), 0);
    assert.match(rejected.lines.join(), /^PASS shop: \d histor.* \(the API server rejected \d/);
    writeFileSync(join(dir, 'tests/fuzz.yaml'), limits('value: {}'));
    const wrong = recordOutput();
    assert.equal(await fuzzDefinitions([dir], flags, wrong.output), 1);
    assert.deepEqual(wrong.lines, []);
    assert.match(wrong.errors.join('\n'), /fuzz\.yaml:4:27[\s\S]*Unknown field "value"/);
  });

  test('what the API server always rejects is a failure with a hint', async () => {
    const dir = join(folder, 'rejecting');
    await init('shop', dir, { group: 'apps.example.com' }, recordOutput().output);
    const fuzz = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorFuzz
metadata: { name: shop }
spec: { definition: shop, values: { /spec/image: [7] } }
`;
    writeFileSync(join(dir, 'tests/fuzz.yaml'), fuzz);
    const { lines, output } = recordOutput();
    assert.equal(await fuzzDefinitions([dir], flags, output), 1);
    assert.match(
      lines.join('\n'),
      /^FAIL shop: the API server rejects every random resource \(4\)\n {2}the last one: .+spec\.image.+\n {2}hint: Add/,
    );
  });
});
