import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { render } from '#cli/commands/render.ts';
import { test as runTests } from '#cli/commands/test.ts';
import { validate } from '#cli/validate.ts';
import { patienceMs } from '../support/patience.ts';

const root = mkdtempSync(join(tmpdir(), 'homeostat-test-command-'));
after(() => rmSync(root, { recursive: true }));

const definition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: thing }
spec:
  crd:
    group: example.com
    names: { kind: Thing, plural: things }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { text: { type: string }, count: { type: integer } } }
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`;

const sample =
  'apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: a }\nspec: { text: x }\n';

function testOf(name: string, text: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: ${name} }
spec:
  steps:
    - name: create
      apply: { file: ../samples/thing.yaml }
      expect:
        - object: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { text: ${text} } }
`;
}

let folders = 0;

/** A folder with a definition, a sample and these tests. */
function project(tests: Readonly<Record<string, string>>) {
  folders += 1;
  const folder = join(root, String(folders));
  const save = (file: string, text: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    // At once: a watch must not read the half of a file.
    const draft = join(root, 'draft');
    writeFileSync(draft, text);
    renameSync(draft, join(folder, file));
  };
  save('thing.yaml', definition);
  save('samples/thing.yaml', sample);
  for (const [name, text] of Object.entries(tests)) save(`tests/${name}.yaml`, text);
  return { folder, save };
}

function recordOutput() {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  return { lines, output: { print, error: print, hasColor: false, isTerminal: false } };
}

describe('homeostat test --jobs', () => {
  test('workers give the same output, coverage and report as one thread', async () => {
    const { folder } = project({
      a: testOf('a', 'x'),
      b: testOf('b', 'wrong'),
      c: testOf('c', 'x'),
      d: `${testOf('d', 'x')}---\n${testOf('e', 'other')}`,
    });
    const runs = [];
    for (const jobs of [1, 3]) {
      const { lines, output } = recordOutput();
      const junit = join(folder, `${jobs}.xml`);
      const code = await runTests([folder], { jobs, junit, coverage: 'text' }, output);
      runs.push({ code, lines, junit: readFileSync(junit, 'utf8') });
    }
    const [alone, together] = runs;
    assert.deepEqual(together, alone);
    assert.equal(alone?.code, 1);
    assert.ok(alone.lines.includes('5 tests: 3 passed, 2 failed'), alone.lines.join('\n'));
    assert.ok(alone.lines.includes('Coverage: 2 of 2 (100 %)'), alone.lines.join('\n'));
  });

  test('--update writes the values of all tests of a file', async () => {
    const wrong = `${testOf('d', 'wrong')}---\n${testOf('e', 'other')}`;
    const { folder } = project({ a: testOf('a', 'x'), d: wrong, f: testOf('f', 'other') });
    const { lines, output } = recordOutput();
    assert.equal(await runTests([folder], { jobs: 2, update: true }, output), 0, lines.join('\n'));
    const updated = readFileSync(join(folder, 'tests/d.yaml'), 'utf8');
    assert.equal(updated, `${testOf('d', '"x"')}---\n${testOf('e', '"x"')}`);
  });

  test('mistakes of a test, its sample and its definitions are printed with their place; other tests run', async () => {
    const { folder, save } = project({
      a: testOf('a', 'x'),
      b: testOf('b', 'x').replace('ConfigMap', 'ConfigMp').replace('thing.yaml', 'thin.yaml'),
      c: testOf('c', 'x').replace('steps:', 'definitions: [../broken]\n  steps:'),
      d: testOf('d', 'x').replace('ConfigMap', 'ConfigMp'),
    });
    save('broken/thing.yaml', definition.replace('spec.text', 'spec.txt'));
    const { lines, output } = recordOutput();
    assert.equal(await runTests([folder], { jobs: 2 }, output), 1);
    const text = lines.join('\n');
    assert.match(
      text,
      /b\.yaml:7:22: error\[unknown-name\]: There is no file "\.\.\/samples\/thin\.yaml"/,
    );
    assert.match(text, /= hint: Did you mean "thing\.yaml"\?/);
    assert.match(text, /broken\/thing\.yaml:\d+:\d+: error\[unknown-path\]/);
    assert.match(text, /d\.yaml:9:\d+: error\[unknown-name\]: There is no kind "ConfigMp" in "v1"/);
    assert.match(text, /4 tests: 1 passed, 3 failed/);
  });
});

describe('homeostat test of a definition with conversions', () => {
  const gate = readFileSync('test/fixtures/valid/conversions.yaml', 'utf8');
  const broken = gate.replace(
    'properties:\n                  replicas',
    'required: [replicas]\n                properties:\n                  replicas',
  );
  const gateTest = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: gate }
spec:
  definitions: [../gate.yaml]
  steps:
    - { name: nothing, expect: [{ absent: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }] }
`;

  /** What is printed for a definition, with the folder left out. */
  async function run(
    text: string,
    tests: Readonly<Record<string, string>>,
    path = '.',
    flags = {},
  ) {
    const { folder, save } = project(tests);
    save('gate.yaml', text);
    const { lines, output } = recordOutput();
    const code = await runTests([join(folder, path)], flags, output);
    return { code, text: lines.join('\n').replaceAll(`${folder}/`, '') };
  }

  test('needs no test file: the file of the definition is enough', async () => {
    const { code, text } = await run(gate, {}, 'gate.yaml');
    assert.equal(code, 0, text);
    assert.equal(
      text,
      'PASS gate.yaml: conversions of gate (1000 objects there and back)\n1 test: 1 passed, 0 failed',
    );
  });

  test('runs beside the tests of a folder, and once for a definition that a test uses', async () => {
    const { code, text } = await run(gate, { gate: gateTest, a: testOf('a', 'x') });
    assert.equal(code, 0, text);
    assert.match(text, /3 tests: 3 passed, 0 failed$/);
    const other = await run(gate, { gate: gateTest }, 'tests/gate.yaml');
    assert.match(other.text, /PASS gate\.yaml: conversions of gate[^\n]*\n2 tests: 2 passed/);
  });

  test('a failure counts in the exit code and in the JUnit file', async () => {
    const junit = join(root, 'conversions.xml');
    const { code, text } = await run(broken, { gate: gateTest }, 'tests', { junit });
    assert.equal(code, 1, text);
    assert.match(text, /FAIL gate\.yaml: conversions of gate\n[\s\S]*1 passed, 1 failed$/);
    const xml = readFileSync(junit, 'utf8');
    assert.match(xml, /<testsuites tests="2" failures="1"/);
    assert.match(xml, /name="conversions of gate"[^>]*>\s*<failure message="An object of version/);
  });

  test('--filter chooses it by its name', async () => {
    const tests = { gate: gateTest };
    const chosen = await run(broken, tests, '.', { filter: 'conversions of gate' });
    assert.match(chosen.text, /1 test: 0 passed, 1 failed$/);
    await assert.rejects(run(gate, tests, '.', { filter: 'other' }), {
      message: 'No test has a name with "other"',
    });
  });

  test('errors of a definition that no test uses are printed, and its conversions count as failed', async () => {
    const { code, text } = await run(gate.replace('here: spec.size', 'here: spec.sise'), {});
    assert.equal(code, 1);
    assert.match(text, /gate\.yaml:80:21: error\[invalid-value\]/);
    assert.match(text, /FAIL gate\.yaml: conversions of gate\n[\s\S]*1 test: 0 passed, 1 failed$/);
  });

  test('--watch runs it again when the definition changes', async () => {
    const { folder, save } = project({ a: testOf('a', 'x') });
    save('gate.yaml', gate);
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const running = runTests([folder], { watch: true, jobs: 1 }, output, stopper.signal);
    await untilRunPrints(lines, /2 tests: 2 passed/);
    save('gate.yaml', broken);
    await untilRunPrints(lines, /FAIL .*conversions of gate[\s\S]*2 tests: 1 passed, 1 failed/);
    stopper.abort();
    assert.equal(await running, 0);
  });
});

/** Waits for a line, and returns and removes all lines until then. */
async function untilPrinted(lines: string[], pattern: RegExp): Promise<string> {
  const endMs = performance.now() + patienceMs;
  while (!lines.some((line) => pattern.test(line))) {
    assert.ok(performance.now() < endMs, `Expected ${pattern}, found:\n${lines.join('\n')}`);
    await setTimeout(10);
  }
  return lines.splice(0).join('\n');
}

/** Waits for the end of the first run that prints the pattern. */
async function untilRunPrints(lines: string[], pattern: RegExp): Promise<void> {
  while (!pattern.test(await untilPrinted(lines, /^Waiting for changes/)));
}

describe('homeostat test --watch', () => {
  test('a change runs the tests that it affects again; a mistake is shown, and the watch continues', async () => {
    const { folder, save } = project({ a: testOf('a', 'x'), b: testOf('b', 'x') });
    save('other/thing.yaml', definition);
    save('tests/c.yaml', testOf('c', 'x').replace('steps:', 'definitions: [../other]\n  steps:'));
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const running = runTests([folder], { watch: true, jobs: 1 }, output, stopper.signal);
    const until = (pattern: RegExp) => untilPrinted(lines, pattern);
    const isIdle = /^Waiting for changes/;
    assert.match(await until(isIdle), /3 tests: 3 passed, 0 failed/);
    save('tests/a.yaml', testOf('a', 'z'));
    assert.match(await until(isIdle), /FAIL .*a\.yaml[\s\S]*1 test: 0 passed, 1 failed/);
    save('tests/a.yaml', testOf('a', '[x'));
    assert.match(await until(isIdle), /error\[yaml-syntax\]/);
    save('tests/a.yaml', testOf('a', 'z'));
    assert.match(await until(isIdle), /FAIL .*a\.yaml[\s\S]*1 test: 0 passed, 1 failed/);
    save('samples/thing.yaml', sample.replace('text: x', 'text: z'));
    assert.match(await until(isIdle), /PASS .*a\.yaml[\s\S]*3 tests: 1 passed, 2 failed/);
    save('other/thing.yaml', definition.replace('spec.text }', 'spec.text & "!" }'));
    assert.match(await until(isIdle), /FAIL .*c\.yaml[\s\S]*1 test: 0 passed, 1 failed/);
    stopper.abort();
    assert.equal(await running, 0);
  });
});

describe('homeostat test --watch with a mistake at its start', () => {
  test('the mistake is printed once, and the tests run when it is mended', async () => {
    const { folder, save } = project({ a: testOf('a', '[x') });
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const running = runTests([folder], { watch: true, jobs: 1 }, output, stopper.signal);
    const first = await untilPrinted(lines, /^Waiting for changes/);
    save('tests/a.yaml', testOf('a', 'x'));
    const then = await untilPrinted(lines, /1 test: 1 passed/);
    assert.equal(`${first}\n${then}`.match(/errors? in 1 file/g)?.length, 1);
    stopper.abort();
    assert.equal(await running, 0);
  });
});

describe('homeostat validate', () => {
  const flags = { output: 'text' } as const;

  test('samples and tests beside definitions are checked, and samples are rendered', async () => {
    const { folder, save } = project({ a: testOf('a', 'x') });
    const right = recordOutput();
    assert.equal(await validate([folder], flags, right.output), 0, right.lines.join('\n'));
    save('samples/thing.yaml', sample.replace('text', 'txt'));
    save('samples/other.yaml', sample.replace('{ text: x }', '{ count: 7 }'));
    save('tests/a.yaml', testOf('a', 'x').replace('object:', 'objct:'));
    save('thing.yaml', definition.replace('spec.text }', '$string(1 / (spec.count - 7)) }'));
    const { lines, output } = recordOutput();
    assert.equal(await validate([folder], flags, output), 1);
    const text = lines.join('\n');
    assert.match(
      text,
      /samples\/thing\.yaml:4:9: error\[unknown-field\]: Unknown field "txt"[\s\S]*hint: Did you mean "text"\?/,
    );
    assert.match(text, /tests\/a\.yaml:9:11: error\[unknown-field\]: Unknown field "objct"/);
    assert.match(
      text,
      /\/thing\.yaml:22:\d+: error\[render-failed\]: .*\(sample "a" of ".*other\.yaml"\)/,
    );
  });
});

describe('homeostat validate of a folder', () => {
  test('fields of a child that the server rejects for a sample are at their lines, one by one', async () => {
    const { folder, save } = project({});
    const job = `kind: CronJob
        metadata: { name: a }
        spec:
          schedule: \${ spec.text }
          jobTemplate: { spec: { template: { spec: { restartPolicy: '\${ spec.text = "y" ? "Never" : "Always" }', containers: [{ name: a, image: a }] } } } }
`;
    const text = definition.slice(0, definition.indexOf('apiVersion: v1\n'));
    save('thing.yaml', `${text}apiVersion: batch/v1\n        ${job}`);
    const { lines, output } = recordOutput();
    assert.equal(await validate([folder], { output: 'text' }, output), 1);
    const found = lines.join('\n').replaceAll(folder, '');
    const sampleText = '(sample "a" of "/samples/thing.yaml")';
    const messages = [
      '/thing.yaml:23:21: error[render-failed]: The API server rejects this: expected exactly 5 fields, found 1: [x]',
      '/thing.yaml:24:69: error[render-failed]: The API server rejects this: valid values: "OnFailure", "Never"',
    ];
    for (const message of messages) assert.ok(found.includes(`${message} ${sampleText}`), found);
    assert.doesNotMatch(found, /is valid/);
  });

  test('a definition with an error has no consequences for the samples of its kind', async () => {
    const { folder, save } = project({});
    save('thing.yaml', definition.replace('spec.text', 'spec.txt'));
    const { lines, output } = recordOutput();
    assert.equal(await validate([folder], { output: 'text' }, output), 1);
    assert.match(lines.join('\n'), /error\[unknown-path\][\s\S]*1 error in 1 file/);
  });
});

describe('homeostat render --watch', () => {
  test('a change prints the objects again; a mistake is shown, and the watch continues', async () => {
    const { folder, save } = project({});
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const flags = { output: 'yaml', simulate: true, watch: true } as const;
    const paths = [join(folder, 'thing.yaml'), join(folder, 'samples/thing.yaml')] as const;
    const running = render(...paths, flags, output, stopper.signal);
    await untilPrinted(lines, /text: x/);
    save('samples/thing.yaml', sample.replace('text: x', 'text: z'));
    assert.match(await untilPrinted(lines, /text: z/), /^# changed\n# child "config"/);
    save('thing.yaml', definition.replace('spec.text', 'spec.txt'));
    await untilPrinted(lines, /error\[unknown-path\]/);
    save('thing.yaml', definition);
    await untilPrinted(lines, /text: z/);
    stopper.abort();
    assert.equal(await running, 0);
  });
});

describe('homeostat validate --watch', () => {
  test('a change prints the diagnostics again, also of a folder that is replaced and of a file that cannot be read', async () => {
    const { folder, save } = project({ a: testOf('a', 'x') });
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const flags = { output: 'text', watch: true } as const;
    const running = validate([folder], flags, output, stopper.signal);
    const isIdle = /^Waiting for changes/;
    assert.match(await untilPrinted(lines, isIdle), /definition "thing" is valid/);
    save('samples/thing.yaml', sample.replace('text', 'txt'));
    assert.match(await untilPrinted(lines, isIdle), /error\[unknown-field\]/);
    cpSync(folder, join(root, 'replaced'), { recursive: true });
    writeFileSync(join(root, 'replaced/samples/thing.yaml'), sample);
    // In one step: a folder that is removed file by file is valid in between.
    renameSync(folder, join(root, 'removed'));
    assert.match(await untilPrinted(lines, isIdle), /Cannot read ".*": /);
    renameSync(join(root, 'replaced'), folder);
    assert.match(await untilPrinted(lines, isIdle), /definition "thing" is valid/);
    save('thing.yaml', definition.replace('spec.text', 'spec.txt'));
    assert.match(await untilPrinted(lines, isIdle), /error\[unknown-path\]/);
    stopper.abort();
    assert.equal(await running, 0);
  });

  test('standard input is wrong use', async () => {
    const { output } = recordOutput();
    const flags = { output: 'text', watch: true } as const;
    await assert.rejects(validate(['-'], flags, output), { message: /standard input is none/ });
  });
});

describe('homeostat test --watch of a folder that is replaced', () => {
  test('a change in the new folder of the same name is noticed', async () => {
    const { folder } = project({ a: testOf('a', 'x') });
    const stopper = new AbortController();
    const { lines, output } = recordOutput();
    const running = runTests([folder], { watch: true, jobs: 1 }, output, stopper.signal);
    await untilPrinted(lines, /^Waiting for changes/);
    // At once, as a version control system does.
    cpSync(join(folder, 'tests'), join(root, 'copy'), { recursive: true });
    writeFileSync(join(root, 'copy/b.yaml'), testOf('b', 'x'));
    rmSync(join(folder, 'tests'), { recursive: true });
    renameSync(join(root, 'copy'), join(folder, 'tests'));
    // A run between the two steps finds no test.
    await untilRunPrints(lines, /PASS .*b\.yaml/);
    // Only in this folder: the folders above are watched, too.
    writeFileSync(join(folder, 'tests/.draft'), testOf('a', 'z'));
    renameSync(join(folder, 'tests/.draft'), join(folder, 'tests/a.yaml'));
    await untilRunPrints(lines, /FAIL .*a\.yaml/);
    stopper.abort();
    assert.equal(await running, 0);
  });
});

describe('homeostat render', () => {
  const flags = { output: 'yaml', simulate: true } as const;

  test('a folder in place of the resource has one, beside folders that are named like files', async () => {
    const { folder } = project({});
    mkdirSync(join(folder, 'samples/old.yaml'));
    const { lines, output } = recordOutput();
    const paths = [join(folder, 'thing.yaml'), join(folder, 'samples')] as const;
    assert.equal(await render(...paths, flags, output), 0, lines.join('\n'));
  });

  test('a wrong resource is reported with its place', async () => {
    const { folder, save } = project({});
    save('samples/thing.yaml', sample.replace('text', 'txt'));
    const { lines, output } = recordOutput();
    const paths = [join(folder, 'thing.yaml'), join(folder, 'samples/thing.yaml')] as const;
    assert.equal(await render(...paths, flags, output), 1);
    assert.match(lines.join('\n'), /samples\/thing\.yaml:4:9: error\[unknown-field\]/);
  });
});
